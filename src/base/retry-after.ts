/** `Retry-After` of an answer: seconds (RFC 9110 §10.2.3) or an HTTP-date (RFC 9110 §5.6.7). */

const DELAY_SECONDS = /^[0-9]+$/;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** IMF-fixdate, the form that servers send; the obsolete forms follow. */
const FIXED_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z][a-z]) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const RFC_850_DATE = /^[A-Z][a-z]+day, (\d\d)-([A-Z][a-z][a-z])-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z][a-z] ([A-Z][a-z][a-z]) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/;

function timeOf(year: number, month: string, day: number, clock: readonly string[]): number | undefined {
  const index = MONTHS.indexOf(month);
  const [hours, minutes, seconds] = clock.map(Number) as [number, number, number];
  if (index < 0 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const timeMs = Date.UTC(year, index, day, hours, minutes, seconds);
  return new Date(Date.UTC(year, index, day)).getUTCDate() === day ? timeMs : undefined;
}

/** RFC 9110 §5.6.7: a two-digit year more than 50 years ahead is in the past century. */
function fullYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

/** An HTTP-date (RFC 9110 §5.6.7) as milliseconds since 1970; undefined for any other text. */
function parseHttpDate(text: string, nowMs: number): number | undefined {
  const fixed = FIXED_DATE.exec(text);
  if (fixed !== null) return timeOf(Number(fixed[3]), fixed[2] as string, Number(fixed[1]), fixed.slice(4));
  const old = RFC_850_DATE.exec(text);
  if (old !== null) return timeOf(fullYear(Number(old[3]), nowMs), old[2] as string, Number(old[1]), old.slice(4));
  const plain = ASCTIME_DATE.exec(text);
  if (plain !== null) return timeOf(Number(plain[6]), plain[1] as string, Number(plain[2]), plain.slice(3, 6));
  return undefined;
}

/** `Retry-After` (RFC 9110 §10.2.3) in whole seconds from now, 0 for a time that has passed; null for anything else. */
export function retryAfterSecondsOf(value: string | null, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  // Any number of digits is a delay; one too large for a number becomes the greatest number (RFC 9111 §1.2.2).
  if (DELAY_SECONDS.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  const timeMs = parseHttpDate(text, nowMs);
  return timeMs === undefined ? null : Math.max(0, Math.ceil((timeMs - nowMs) / 1000));
}
