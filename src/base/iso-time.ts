/**
 * Times as RFC 3339 text, a dozen in each answer. It memoizes the text of each day, because the jobs of one answer were
 * observed on few days; that is several times faster than `toISOString`.
 */
const DAY_MS = 86_400_000;
const DAY_COUNT_MAX = 4096;
/** `hh:mm:ss.sssZ` */
const TIME_LENGTH = 13;

const padded = (count: number, digitCount: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => String(number).padStart(digitCount, '0'));

const TWO_DIGITS = padded(60, 2);
const THREE_DIGITS = padded(1000, 3);

/** Day since 1970-01-01 -> `YYYY-MM-DDT` */
const dates = new Map<number, string>();

function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * DAY_MS).toISOString().slice(0, -TIME_LENGTH);
  if (dates.size >= DAY_COUNT_MAX) dates.clear();
  dates.set(day, date);
  return date;
}

/**
 * UTC with milliseconds and `Z` (RFC 3339), as `toISOString` writes it.
 * @throws RangeError when `unixMs` is outside the range of Date
 */
export function isoTime(unixMs: number): string {
  const day = Math.floor(unixMs / DAY_MS);
  const ms = Math.trunc(unixMs - day * DAY_MS);
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const date = dateOf(day);
  return `${date}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${THREE_DIGITS[ms % 1000]}Z`;
}
