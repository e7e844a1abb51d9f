/**
 * The body of a target's answer as customers see it (siblings §6): JSON as received, numbers and key order unchanged; text by
 * its charset; null for other types. A body longer than {@link RESPONSE_BYTES_MAX} is cut, and cut JSON is shown as text.
 */
import { decodeUtf8, withoutByteOrderMark } from '../base/codec.ts';
import { isDeeperThan } from '../base/json-depth.ts';
import { parseJson } from '../base/json-value.ts';
import { type BodyForm, bodyFormOf, UTF_8 } from '../base/media-type.ts';
import { RESPONSE_BYTES_MAX, RESULT_DEPTH_MAX } from './limits.ts';

export interface ResultBody {
  /** JSON text of the body. */
  readonly json: string;
  readonly isTruncated: boolean;
}

const JSON_TYPE = /^application\/(?:[!#$%&'*+\-.^_`|~0-9a-z]+\+)?json$/;
const TEXT_TYPE = /^text\/|^application\/(?:xml|x-www-form-urlencoded)$|\+xml$/;

const UTF_8_TEXT: BodyForm = { kind: 'text', charset: UTF_8 };

/** An unknown or malformed charset does not lose the body; undefined for types that are neither JSON nor text. */
function formOf(contentType: string | null): BodyForm | undefined {
  if (contentType === null) return UTF_8_TEXT;
  const [type = ''] = contentType.split(';', 1);
  const essence = type.trim().toLowerCase();
  if (JSON_TYPE.test(essence)) return { kind: 'json' };
  if (TEXT_TYPE.test(essence)) return bodyFormOf(`text/plain${contentType.slice(type.length)}`) ?? UTF_8_TEXT;
  return undefined;
}

/** Leaves out a character that a cut split: U+FFFD in its place would be one that the target never sent. */
const textOf = (bytes: Uint8Array, charset: string, isTruncated: boolean): string =>
  JSON.stringify(new TextDecoder(charset).decode(bytes, { stream: isTruncated }));

/** The text of JSON, without a byte order mark; undefined for other bytes, and for values that nest too deep. */
function jsonTextOf(bytes: Uint8Array): string | undefined {
  const decoded = decodeUtf8(bytes);
  if (decoded === undefined || isDeeperThan(RESULT_DEPTH_MAX, decoded)) return undefined;
  const text = withoutByteOrderMark(decoded);
  return parseJson(text) === undefined ? undefined : text.trim();
}

/** @param isCut the body on the wire was longer than what was read */
export function resultBodyOf(bytes: Uint8Array, contentType: string | null, isCut: boolean): ResultBody {
  const isTruncated = isCut || bytes.length > RESPONSE_BYTES_MAX;
  const kept = bytes.subarray(0, RESPONSE_BYTES_MAX);
  const form = formOf(contentType);
  if (kept.length === 0 || form === undefined) return { json: 'null', isTruncated };
  if (form.kind === 'text') return { json: textOf(kept, form.charset, isTruncated), isTruncated };
  const json = isTruncated ? undefined : jsonTextOf(kept);
  return { json: json ?? textOf(kept, UTF_8, isTruncated), isTruncated };
}
