/**
 * Decodes a body that is input: one JSON object of a declared schema (siblings §3). Bytes that are not JSON are INVALID_JSON;
 * a value that the schema does not accept is INVALID_BODY, and the message names its field by path (`scopes[0]`) and states
 * the rule. Unknown fields are refused, so that a misspelt one does not silently become a default. No message repeats a value.
 *
 * The words after "must be" are the `rule` in the metadata of the field's schema, or of the nearest one around it.
 */
import * as v from 'valibot';
import { decodeUtf8, withoutByteOrderMark } from '../base/codec.ts';
import { isDeeperThan } from '../base/json-depth.ts';
import { parseJson } from '../base/json-value.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { bodyFormOf, isUnpacked } from '../base/media-type.ts';
import type { BodyBounds, BodyRead, BodyReader } from './body.ts';
import {
  INVALID_BODY,
  INVALID_JSON,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  Refusal,
  refuse,
  UNSUPPORTED_MEDIA_TYPE,
} from './errors.ts';
import { INPUT_BYTES_MAX, INPUT_DEADLINE_MS, INPUT_DEPTH_MAX } from './limits.ts';
import { cutName, ruleOf } from './query.ts';
import type { RequestView } from './request-view.ts';
import { unreadBody } from './unread-body.ts';

export type BodySchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** Codes of the refusals, for the route's `errors`. */
export const BODY_ERRORS = [
  UNSUPPORTED_MEDIA_TYPE,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  INVALID_JSON,
  INVALID_BODY,
] as const;

export type BodyRefusal = Refusal<(typeof BODY_ERRORS)[number]['code']>;

/** A body as its schema understands it, and as it arrived. */
export type JsonBody<S extends BodySchema> = { readonly body: v.InferOutput<S>; readonly bytes: Uint8Array };

/** The services that reading a body needs. */
export interface BodyServices {
  readonly bodies: BodyReader;
}

const BOUNDS: BodyBounds = { bytesMax: INPUT_BYTES_MAX, deadlineMs: INPUT_DEADLINE_MS };

/**
 * The `readBody` of a route whose body is required. Keep it in a constant before the declaration: inside the declaration its
 * type would be lost.
 * @param bounds bytes and time; {@link INPUT_BYTES_MAX} when not given
 * @param depthMax nesting of arrays and objects
 */
export function jsonBody<const S extends BodySchema>(
  schema: S,
  bounds: BodyBounds = BOUNDS,
  depthMax: number = INPUT_DEPTH_MAX,
) {
  const decode = (request: RequestView, read: BodyRead): JsonBody<S> | BodyRefusal => {
    if (!read.ok) return unreadBody(read, bounds);
    const { bytes } = read;
    const unsupported = bytes.length === 0 ? undefined : unlessJson(request);
    if (unsupported !== undefined) return unsupported;
    const value = jsonOf(bytes, depthMax);
    const body = value === undefined ? invalidJson(depthMax) : parseBody(schema, value);
    return body instanceof Refusal ? body : { body, bytes };
  };
  return (request: RequestView, { bodies }: BodyServices): MaybePromise<JsonBody<S> | BodyRefusal> =>
    bodies.use(request, bounds, (read) => decode(request, read));
}

export const invalidJson = (depthMax: number): Refusal<'INVALID_JSON'> =>
  refuse(INVALID_JSON, `the body must be JSON in UTF-8, at most ${depthMax} arrays and objects deep`);

/** The refusal of a body that its headers do not declare as JSON. */
export function unlessJson(request: RequestView): Refusal<'UNSUPPORTED_MEDIA_TYPE'> | undefined {
  const isJson = bodyFormOf(request.header('content-type'))?.kind === 'json';
  if (isJson && isUnpacked(request)) return undefined;
  return refuse(
    UNSUPPORTED_MEDIA_TYPE,
    'the body must be application/json without a Content-Encoding or a Transfer-Encoding other than chunked',
  );
}

/** Returns undefined for bytes that are not JSON or nest too deeply. */
function jsonOf(bytes: Uint8Array, depthMax: number): unknown {
  const text = decodeUtf8(bytes);
  if (text === undefined || isDeeperThan(depthMax, text)) return undefined;
  return parseJson(withoutByteOrderMark(text));
}

export const NO_OBJECT = 'the body must be a JSON object';

/** A JSON value as the schema understands it, or the refusal that names the first fault. */
export function parseBody<const S extends BodySchema>(
  schema: S,
  value: unknown,
): v.InferOutput<S> | Refusal<'INVALID_BODY'> {
  const list = listForObject(schema, value);
  if (list !== undefined) return refuse(INVALID_BODY, mustBe(schema, list));
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  return parsed.success ? parsed.output : refuse(INVALID_BODY, faultOf(schema, parsed.issues[0]));
}

function faultOf(schema: BodySchema, issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => key);
  const path = pathText(keys);
  // For a strict object itself, `expected` is the missing name in quotes, or `never` for an unknown name.
  if (issue.type === 'strict_object' && issue.expected === 'never') return `unknown field ${path}`;
  const isMissing = issue.type === 'strict_object' && issue.received === 'undefined';
  return isMissing ? `${path} is required: ${ruleAt(schema, keys).rule}` : mustBe(schema, keys);
}

const mustBe = (schema: BodySchema, keys: readonly unknown[]): string =>
  keys.length === 0 ? NO_OBJECT : `${pathText(keys)} must be ${ruleAt(schema, keys).rule}`;

/** `scopes[0]` in backticks; paths with unusual characters are quoted as JSON, and API keys are never echoed. */
function pathText(keys: readonly unknown[]): string {
  const sent = keys.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? String(key) : `.${String(key)}`));
  const shown = cutName(sent.join(''));
  return /^[\w.[\]-]*$/.test(shown) ? `\`${shown}\`` : JSON.stringify(shown);
}

interface Inside {
  readonly wrapped?: v.GenericSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  /** Schema of a record's values. */
  readonly value?: v.GenericSchema;
}

/** The schema inside `optional(...)` and `nullable(...)`. */
function innermost(schema: v.GenericSchema): v.GenericSchema {
  const { wrapped } = schema as Inside;
  return wrapped === undefined ? schema : innermost(wrapped);
}

/** Path of the first list in place of an object: the library takes a list for an object whose names are its indices. */
function listForObject(schema: v.GenericSchema, value: unknown): readonly (string | number)[] | undefined {
  const { entries, item, value: ofRecord } = innermost(schema) as Inside;
  if ((entries ?? item ?? ofRecord) === undefined || typeof value !== 'object' || value === null) return undefined;
  const isList = Array.isArray(value);
  if (isList && (entries ?? ofRecord) !== undefined) return [];
  for (const [name, inner] of Object.entries(value)) {
    const within = isList ? item : entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : ofRecord;
    const found = within && listForObject(within, inner);
    if (found !== undefined) return [isList ? Number(name) : name, ...found];
  }
  return undefined;
}

/** The rule of the field at a path, or of the nearest field around it that has one. */
function ruleAt(schema: v.GenericSchema, keys: readonly unknown[]): { readonly rule: string } {
  let at: v.GenericSchema = schema;
  let rule = { rule: 'valid' };
  for (const key of keys) {
    const { entries, item, value } = innermost(at) as Inside;
    const next = typeof key === 'number' ? item : (entries?.[String(key)] ?? value);
    if (next === undefined) break;
    at = next;
    const found = ruleOf(innermost(at));
    if (found.rule !== 'valid') rule = found;
  }
  return rule;
}
