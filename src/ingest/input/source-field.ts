/**
 * Readers for the fields of other people's records: text with stray blanks and entities, addresses, flags, times. Pure. A value
 * that a reader does not understand is null, never a guess and never an error: one odd date must not cost a row.
 */
import { parseDateTime } from '../../base/date-time.ts';
import { DAY_MS } from '../../base/durations.ts';
import { decodedEntities } from './html-text.ts';

export type SourceRecord = Readonly<Record<string, unknown>>;

/** The members of an array; any other value as an array of one; null and undefined as none. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Complete entities only: "R&D" and "AT&T" contain none, and "&copy that" is no copyright sign. */
const ENTITY = /&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,31});/g;
const ESCAPED_TWICE = /&amp;(?=#?\w+;)/;

function withoutEntities(text: string): string {
  if (!text.includes('&')) return text;
  const once = text.replace(ENTITY, decodedEntities);
  return ESCAPED_TWICE.test(text) ? once.replace(ENTITY, decodedEntities) : once;
}

const BLANKS = /\s+/g;
const UNEVEN = /\s{2,}|[^\S ]/;

/** What table dumps write for a missing value (Python's None and NaN, SQL's NULL). */
const NOTHING: ReadonlySet<string> = new Set(['nan', 'NaN', 'None', 'null', 'NULL', '<NA>', 'NaT']);

/** One line of text: entities decoded, blanks collapsed, trimmed. Numbers are their digits; blank is null. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string') return null;
  const text = withoutEntities(value);
  const line = (UNEVEN.test(text) ? text.replace(BLANKS, ' ') : text).trim();
  return line === '' || NOTHING.has(line) ? null : line;
}

/** The first of `values` that is text. */
export function firstText(...values: readonly unknown[]): string | null {
  for (const value of values) {
    const text = textOf(value);
    if (text !== null) return text;
  }
  return null;
}

/** An address, trimmed, with blanks inside encoded; null when there is none. Its form is checked later. */
export function urlOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (text === '' || NOTHING.has(text)) return null;
  return (text.includes('&amp;') ? text.replaceAll('&amp;', '&') : text)
    .replace(/[\t\r\n]+/g, '')
    .replaceAll(' ', '%20');
}

/** The markup of a description, unescaped until it is escaped at most once, as `htmlText` expects. */
export function htmlOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (text === '' || NOTHING.has(text)) return null;
  return !value.includes('<') && /&amp;(?:lt|#60|#x3c);\/?[a-z]/i.test(value) ? decodedEntities(value) : value;
}

/** The parts of a description as one, each on separate lines; null when all are blank. */
export function joinedHtml(...parts: readonly unknown[]): string | null {
  const texts = parts.map(htmlOf).filter((text) => text !== null);
  return texts.length === 0 ? null : texts.join('\n');
}

const YES: ReadonlySet<string> = new Set(['true', 'yes', 'y', '1', '1.0', 't']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'n', '0', '0.0', 'f']);

/** true, false, or null when the value is neither. */
export function flagOf(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const text = textOf(value)?.toLowerCase() ?? '';
  return YES.has(text) ? true : NO.has(text) ? false : null;
}

/**
 * The size of an epoch number tells its unit: from 1e8 (1973) to 1e11 (the year 5138) they are seconds, from 1e11 (1973) to 1e14
 * milliseconds. Other numbers are no times.
 */
const SECONDS_MIN = 1e8;
const SECONDS_END = 1e11;
const MILLISECONDS_END = 1e14;

function epochMs(value: number): number | null {
  if (value >= SECONDS_MIN && value < SECONDS_END) return Math.floor(value * 1000);
  return value >= SECONDS_END && value < MILLISECONDS_END ? Math.floor(value) : null;
}

const NUMERAL = /^\d+(?:\.\d*)?(?:[eE]\+?\d+)?$/;
const LOOSE = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?([.,]\d+)? ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;

function offsetOf(text: string | undefined): string {
  if (text === undefined || /^[zug]/i.test(text)) return 'Z';
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  return `${text[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/**
 * Milliseconds since the epoch, or null. Accepts RFC 3339, a bare date (midnight UTC), date and time with a blank between
 * them or followed by "UTC" or "+0200", epoch seconds and milliseconds, also as text and in float form (1.71E+12), and Date
 * objects (Parquet). A time without an offset is UTC. "Posted 3 Days Ago" and 03/04/2026 are no dates.
 */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return epochMs(value);
  if (typeof value === 'bigint') return epochMs(Number(value));
  // Parsed as text, because a year of more than four digits is a sentinel or a wrong unit, and no native record can state it.
  if (value instanceof Date) return parseDateTime(value.toJSON() ?? '') ?? null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (NUMERAL.test(text)) return epochMs(Number(text));
  const strict = parseDateTime(text);
  if (strict !== undefined) return strict;
  const part = LOOSE.exec(text);
  if (!part) return null;
  const fraction = part[4] === undefined ? '' : `.${part[4].slice(1)}`;
  return parseDateTime(`${part[1]}T${part[2]}${part[3] ?? ':00'}${fraction}${offsetOf(part[5])}`) ?? null;
}

/** As `timeOf`, for the end of something: a bare date means the end of its day. */
export function endTimeOf(value: unknown): number | null {
  const timeMs = timeOf(value);
  return timeMs !== null && typeof value === 'string' && BARE_DATE.test(value.trim()) ? timeMs + DAY_MS : timeMs;
}
