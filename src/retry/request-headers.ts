/**
 * Headers of a customer's request (siblings §6): field names and values by RFC 9110 §5, at most {@link HEADER_COUNT_MAX}, and
 * none that belongs to the connection, to this server, or to the signature of its events.
 */
import { isFieldValue } from '../base/media-type.ts';
import { HEADER_BYTES_MAX, HEADER_COUNT_MAX, HEADER_OVERHEAD_BYTES } from './limits.ts';

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** A token (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Patterns for published schemas, of a name and of a value; a value begins and ends with a visible character. */
export const HEADER_NAME_PATTERN = NAME.source;
export const HEADER_VALUE_PATTERN =
  '^([!-~\\x80-\\x9f\\xa1-\\xff]([\\t -~\\x80-\\xff]*[!-~\\x80-\\x9f\\xa1-\\xff])?)?$';

/** Hop-by-hop fields (RFC 9110 §7.6.1 and the fields that RFC 2616 §13.5.1 listed), and those that our HTTP client sets itself. */
const REFUSED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
]);
const REFUSED_PREFIXES = ['x-retry-', 'proxy-', 'webhook-'];

/** What is wrong with a header; `name` is undefined for a fault of all headers together. */
export interface HeaderFault {
  readonly name: string | undefined;
  /** Completes "must". */
  readonly rule: string;
}

const isName = (name: string): boolean => NAME.test(name);

const isRefused = (name: string): boolean =>
  REFUSED.has(name) || REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix));

/** No blank at either end (RFC 9110 §5.5). */
const isValue = (value: string): boolean => isFieldValue(value) && value.trim() === value;

/** The first fault, in the order of the headers; undefined when there is none. */
export function faultOfHeaders(headers: HeaderPairs): HeaderFault | undefined {
  if (headers.length > HEADER_COUNT_MAX) return { name: undefined, rule: `have at most ${HEADER_COUNT_MAX} fields` };
  const seen = new Set<string>();
  let byteCount = 0;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!isName(name)) return { name, rule: 'be a field name of RFC 9110' };
    if (isRefused(lower)) return { name, rule: 'not be set: the server or the connection owns this field' };
    if (seen.has(lower)) return { name, rule: 'be given once, whatever its case' };
    if (!isValue(value)) return { name, rule: 'have a field value of RFC 9110, without blanks at its ends' };
    seen.add(lower);
    byteCount += name.length + value.length + HEADER_OVERHEAD_BYTES;
  }
  if (byteCount <= HEADER_BYTES_MAX) return undefined;
  return { name: undefined, rule: `take at most ${HEADER_BYTES_MAX} bytes: names, values and 4 bytes each` };
}

/** Whether the headers have this one, in any case. @param name lower case */
export const hasHeader = (headers: HeaderPairs, name: string): boolean =>
  headers.some(([given]) => given.toLowerCase() === name);
