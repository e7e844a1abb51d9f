/**
 * A stored webhook (callback.md, "Event"), built once as finished JSON text: reading is joining, and no stored event can
 * make a read fail. The text has three parts: a head up to `"body":`, the body, and a tail with the size. What was JSON is
 * spliced in as it was sent; what was text is a JSON string.
 *
 * The exact bytes can be had again: from the text itself, or kept beside it where the text does not tell (a BOM, another
 * charset, malformed bytes). A long event lives in the store as head and bytes, which is never more than was sent, and is
 * finished when it is read; escaping can make it six times as long.
 */
import type { EventId } from './identifier.ts';
import { isJson } from './json-text.ts';
import { INLINE_CHARACTERS_MAX, RETAINED_CHARACTERS_MAX } from './limits.ts';
import { type BodyForm, UTF_8 } from './media-type.ts';

/** What the store keeps of an event. */
export interface EventRecord {
  readonly id: EventId;
  /** Wall clock, whole seconds since 1970; never less than that of an earlier event of the same callback. */
  readonly receivedAtSeconds: number;
  /** JSON text of the event up to and including `"body":`. */
  readonly head: string;
  readonly form: BodyForm;
  /** The body as it arrived. */
  readonly bytes: Uint8Array;
  /**
   * True when the inbox itself holds all of the event: a store that does not outlive the process need not keep it.
   */
  readonly isInline: boolean;
}

/** What memory holds of an event. */
export interface HeldEvent {
  readonly id: EventId;
  /** Finished JSON; null = in the store only. */
  readonly json: string | null;
  /** Where the body begins in `json`. */
  readonly bodyStart: number;
  /** True when the body is text, which `json` shows as a string. */
  readonly isText: boolean;
  /** The body as it arrived; null = what `json` says, in UTF-8. */
  readonly bytes: Uint8Array | null;
}

/** One webhook as it arrived, before it is an event. */
export interface Webhook {
  /** `POST`, `PUT` or `PATCH`. */
  readonly method: string;
  readonly form: BodyForm;
  readonly retained: RetainedHeaders;
  readonly bytes: Uint8Array;
}

/** Retained header values in the order of RETAINED_HEADERS, absent ones left out; names in lower case. */
export type RetainedHeaders = readonly (readonly [name: string, value: string])[];

/**
 * callback.md, "Events" 4, with its two neutral vendor names as they stand there, and the same headers of Stripe and Svix
 * (decisions §5). The content type first, since it is shown in any case; signatures before the rest.
 */
export const RETAINED_HEADERS = [
  'content-type',
  'vendora-signature',
  'vendorb-id',
  'vendorb-timestamp',
  'vendorb-signature',
  'stripe-signature',
  'svix-id',
  'svix-timestamp',
  'svix-signature',
  'x-hub-signature',
  'x-hub-signature-256',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'x-signature',
  'x-webhook-signature',
  'user-agent',
] as const;

/** decisions §5: `content_type` where no header was sent. */
const CONTENT_TYPE_WITHOUT_HEADER = 'text/plain';

const encoder = new TextEncoder();
/** Malformed bytes become U+FFFD; a BOM goes. */
const utf8 = new TextDecoder(UTF_8);

/**
 * Values as sent, whole or not at all: half a signature would fail its check and not say why. What is earlier in
 * RETAINED_HEADERS comes first when there is not room for all.
 * @param header a request header's value, repeated ones joined by `, `, or null; the content type is at most
 *   CONTENT_TYPE_CHARACTERS_MAX long, and so always fits
 */
export function retainedHeaders(header: (name: string) => string | null): RetainedHeaders {
  const retained: [string, string][] = [];
  let left = RETAINED_CHARACTERS_MAX;
  for (const name of RETAINED_HEADERS) {
    const value = header(name);
    if (value === null) continue;
    const length = name === 'content-type' ? 2 * value.length : value.length;
    if (length > left) continue;
    left -= length;
    retained.push([name, value]);
  }
  return retained;
}

export function eventHead(id: EventId, receivedAtSeconds: number, method: string, retained: RetainedHeaders): string {
  const receivedAt = `${new Date(receivedAtSeconds * 1000).toISOString().slice(0, 19)}Z`;
  const headers = retained.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',');
  const contentType = JSON.stringify(contentTypeSent(retained) ?? CONTENT_TYPE_WITHOUT_HEADER);
  return `{"id":"${id}","received_at":"${receivedAt}","method":"${method}","content_type":${contentType},"headers":{${headers}},"body":`;
}

function contentTypeSent(retained: RetainedHeaders): string | undefined {
  return retained[0]?.[0] === 'content-type' ? retained[0][1] : undefined;
}

/** The Content-Type that the sender of an event gave, or null, from the event's head. */
export function originalContentType(head: string): string | null {
  const { headers } = JSON.parse(`${head}null}`) as { headers: Record<string, string> };
  return headers['content-type'] ?? null;
}

const TAIL_START = ',"size_bytes":';
/** Six digits of size and the closing brace. */
const TAIL_LENGTH_MAX = TAIL_START.length + 7;

/** False for bytes that are not the JSON they should be. */
export function isAcceptable(form: BodyForm, bytes: Uint8Array): boolean {
  return form.kind === 'text' || isJson(bytes);
}

/** JSON text of an acceptable body. */
function bodyJsonOf(form: BodyForm, bytes: Uint8Array): string {
  if (form.kind === 'json') return utf8.decode(bytes);
  const decoder = form.charset === UTF_8 ? utf8 : new TextDecoder(form.charset);
  return JSON.stringify(decoder.decode(bytes));
}

/** One string, joined: a template would keep a tree of its pieces alive until somebody reads it. */
function eventJson(head: string, bodyJson: string, sizeBytes: number): string {
  return [head, bodyJson, TAIL_START, sizeBytes, '}'].join('');
}

/** An event of the store, finished. Its bytes were judged before they were stored. */
export function finishedJson({ bytes, form, head, id }: EventRecord): string {
  if (!isAcceptable(form, bytes)) throw new Error(`the store gave back other bytes for ${id}`);
  return eventJson(head, bodyJsonOf(form, bytes), bytes.length);
}

/** True when the body's JSON text alone gives back the bytes: UTF-8, no BOM, nothing replaced. */
function isToldByText(form: BodyForm, bytes: Uint8Array, bodyJson: string): boolean {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return false;
  return form.kind === 'json' || (form.charset === UTF_8 && !bodyJson.includes('\ufffd'));
}

/** Most bytes of UTF-8 for one UTF-16 code unit, also where a malformed sequence becomes U+FFFD. */
const UTF_8_BYTES_A_UNIT = 3;

/** True for a body that is too long for memory however it reads: no text is made of it. */
const isSurelyLong = (form: BodyForm, bytes: Uint8Array): boolean =>
  (form.kind === 'json' || form.charset === UTF_8) && bytes.length > INLINE_CHARACTERS_MAX * UTF_8_BYTES_A_UNIT;

/** What memory holds of an event whose body is acceptable: all of it when it is short. */
export function heldEvent(record: Omit<EventRecord, 'isInline'>): HeldEvent {
  const { id, head, form, bytes } = record;
  const isText = form.kind === 'text';
  const long: HeldEvent = { id, json: null, bodyStart: 0, isText, bytes: null };
  if (isSurelyLong(form, bytes)) return long;
  const bodyJson = bodyJsonOf(form, bytes);
  if (head.length + bodyJson.length + TAIL_LENGTH_MAX > INLINE_CHARACTERS_MAX) return long;
  const json = eventJson(head, bodyJson, bytes.length);
  return { id, json, bodyStart: head.length, isText, bytes: isToldByText(form, bytes, bodyJson) ? null : bytes };
}

export interface RawBody {
  readonly bytes: Uint8Array;
  /** Content-Type as sent; null = none was. */
  readonly contentType: string | null;
}

/** The exact body of an event that memory holds whole. */
export function rawOf(event: HeldEvent & { readonly json: string }): RawBody {
  const contentType = originalContentType(event.json.slice(0, event.bodyStart));
  if (event.bytes !== null) return { bytes: event.bytes, contentType };
  const bodyJson = event.json.slice(event.bodyStart, event.json.lastIndexOf(TAIL_START));
  return { bytes: encoder.encode(event.isText ? (JSON.parse(bodyJson) as string) : bodyJson), contentType };
}
