/**
 * RFC 3339 §5.6 date-times, and bare dates, as milliseconds since the epoch. Strict: only real calendar days (no rolling over
 * into the next month), two-digit parts, and a required offset with each time. A fraction is truncated, not rounded, to
 * milliseconds. A leap second is the following midnight, as in POSIX time, and accepted only where one can be: 23:59:60 UTC on
 * the last day of a month.
 */
import { DAY_MS, MINUTE_MS } from './durations.ts';

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/**
 * The pattern for such texts in published schemas. It leaves out leap seconds, admits 29 February in every year, and uses no
 * lookahead, which some validators lack.
 */
export const DATE_TIME_PATTERN =
  '^[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|[12][0-9])|(0[13-9]|1[0-2])-30|(0[13578]|1[02])-31)' +
  '([Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$';

/** Days in 400 years of the Gregorian calendar, after which it repeats. */
const CYCLE_DAYS = 146_097;
/** 0000-01-01T00:00:00Z and the end of 9999: beyond these `toISOString` does not write four-digit years. */
const TIME_MIN_MS = -62_167_219_200_000;
const TIME_MAX_MS = 253_402_300_799_999;

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && leap ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/** Milliseconds since 1970-01-01T00:00:00Z, or `undefined`. A bare date is midnight UTC. */
export function parseDateTime(text: string): number | undefined {
  const part = DATE_TIME.exec(text);
  if (!part) return undefined;
  const year = Number(part[1]);
  const month = Number(part[2]);
  const day = Number(part[3]);
  if (day < 1 || day > daysIn(year, month)) return undefined;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999, so add one calendar cycle to every year.
  const dateMs = Date.UTC(year + 400, month - 1, day) - CYCLE_DAYS * DAY_MS;
  if (part[4] === undefined) return dateMs;

  const hour = Number(part[4]);
  const minute = Number(part[5]);
  const second = Number(part[6]);
  const offsetHour = Number(part[9] ?? 0);
  const offsetMinute = Number(part[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;

  const offsetMs = (part[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * MINUTE_MS;
  const fractionMs = Number((part[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const wholeMs = dateMs + ((hour * 60 + minute) * 60 + second) * 1000 - offsetMs;
  if (second === 60 && !(wholeMs % DAY_MS === 0 && new Date(wholeMs).getUTCDate() === 1)) return undefined;
  const timeMs = second === 60 ? wholeMs : wholeMs + fractionMs;
  return timeMs < TIME_MIN_MS || timeMs > TIME_MAX_MS ? undefined : timeMs;
}

const DATED = /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2}))?/g;

/** The first date in a file's name (acme.2026-08-21.json, 20260821T204150Z.json), as a time in UTC; null for none. */
export function dateInName(name: string): number | null {
  for (const [, year, month, day, hour, minute, second] of name.matchAll(DATED)) {
    const time = hour === undefined ? '' : `T${hour}:${minute}:${second}Z`;
    const timeMs = parseDateTime(`${year}-${month}-${day}${time}`);
    if (timeMs !== undefined) return timeMs;
  }
  return null;
}
