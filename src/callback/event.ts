/**
 * Builds an event, a stored webhook (callback.md, "Event"), once as finished JSON text: a read only joins texts, and no
 * stored event can make a read fail. The text has three parts: a head up to `"body":`, the body, and a tail with the size. A
 * JSON body stands in it as it was sent, a text body as a JSON string.
 *
 * The exact bytes stay available. They are restored from the text, or kept beside it where the text does not determine them
 * (a BOM, another charset, malformed bytes). A long event lives in the store as head and bytes, which take no more than the
 * sender sent, and is finished when it is read; escaping can make its text six times as long.
 */
import type { EventId } from './identifier.ts';
import { isJson } from './json-text.ts';
import { INLINE_CHARACTERS_MAX, RETAINED_CHARACTERS_MAX } from './limits.ts';
import { type BodyForm, UTF_8 } from './media-type.ts';

/** An event as the event store holds it. */
export interface EventRecord {
  readonly id: EventId;
  /** Wall clock, whole seconds since 1970; never before an earlier event of the same callback. */
  readonly receivedAtSeconds: number;
  /** JSON text of the event up to and including `"body":`. */
  readonly head: string;
  readonly form: BodyForm;
  /** The body as it arrived. */
  readonly bytes: Uint8Array;
  /** True when the inbox holds the whole event in memory: a store that does not outlive the process need not keep it. */
  readonly isInline: boolean;
}

/** An event as the inbox holds it in memory. */
export interface InboxEvent {
  readonly id: EventId;
  /** Finished JSON; null = the event is in the store only. */
  readonly json: string | null;
  /** Where the body begins in `json`. */
  readonly bodyStart: number;
  /** True when the body is text, which stands in `json` as a string. */
  readonly isText: boolean;
  /** The body as it arrived; null = the body in `json`, in UTF-8. */
  readonly bytes: Uint8Array | null;
}

/** A webhook as it arrived, before it becomes an event. */
export interface Webhook {
  /** `POST`, `PUT` or `PATCH`. */
  readonly method: string;
  readonly form: BodyForm;
  readonly retained: RetainedHeaders;
  readonly bytes: Uint8Array;
}

/** Retained headers in the order of RETAINED_HEADERS, absent ones left out; names in lower case. */
export type RetainedHeaders = readonly (readonly [name: string, value: string])[];

/**
 * Request headers that an event retains (callback.md, "Events" 4): those of the contract with its two neutral vendor names,
 * and the same headers of Stripe and Svix (decisions §5). The content type comes first because every event shows it,
 * signatures come before the rest.
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

/** `content_type` of an event whose sender gave no Content-Type (decisions §5). */
const CONTENT_TYPE_WITHOUT_HEADER = 'text/plain';

const encoder = new TextEncoder();
/** Replaces malformed bytes by U+FFFD and drops a BOM. */
const utf8 = new TextDecoder(UTF_8);

/**
 * Picks the headers that the event retains. A value is kept whole or not at all, because half a signature would fail its
 * check without saying why. Where not all values fit, the earlier ones in RETAINED_HEADERS win.
 * @param header gives a request header's value, repeated ones joined by `, `, or null; the content type is at most
 *   CONTENT_TYPE_CHARACTERS_MAX long and therefore always fits
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

/** Writes the event's JSON up to and including `"body":`. */
export function eventHead(id: EventId, receivedAtSeconds: number, method: string, retained: RetainedHeaders): string {
  const receivedAt = `${new Date(receivedAtSeconds * 1000).toISOString().slice(0, 19)}Z`;
  const headers = retained.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',');
  const contentType = JSON.stringify(contentTypeSent(retained) ?? CONTENT_TYPE_WITHOUT_HEADER);
  return `{"id":"${id}","received_at":"${receivedAt}","method":"${method}","content_type":${contentType},"headers":{${headers}},"body":`;
}

function contentTypeSent(retained: RetainedHeaders): string | undefined {
  return retained[0]?.[0] === 'content-type' ? retained[0][1] : undefined;
}

/** Reads the sender's Content-Type from an event's head; null when there was none. */
export function originalContentType(head: string): string | null {
  const { headers } = JSON.parse(`${head}null}`) as { headers: Record<string, string> };
  return headers['content-type'] ?? null;
}

const TAIL_START = ',"size_bytes":';
/** Six digits of size and the closing brace. */
const TAIL_LENGTH_MAX = TAIL_START.length + 7;

/** False for a JSON body whose bytes are not acceptable JSON. */
export function isAcceptable(form: BodyForm, bytes: Uint8Array): boolean {
  return form.kind === 'text' || isJson(bytes);
}

/** Writes an acceptable body as JSON text. */
function bodyJsonOf(form: BodyForm, bytes: Uint8Array): string {
  if (form.kind === 'json') return utf8.decode(bytes);
  const decoder = form.charset === UTF_8 ? utf8 : new TextDecoder(form.charset);
  return JSON.stringify(decoder.decode(bytes));
}

/** Joins the parts into one flat string: a template literal would keep a tree of its pieces alive until the first read. */
function eventJson(head: string, bodyJson: string, sizeBytes: number): string {
  return [head, bodyJson, TAIL_START, sizeBytes, '}'].join('');
}

/**
 * Finishes an event that was read from the store.
 * @throws Error when its bytes are not acceptable, which they were when they were stored
 */
export function finishedJson({ bytes, form, head, id }: EventRecord): string {
  if (!isAcceptable(form, bytes)) throw new Error(`the store returned other bytes for ${id} than it was given`);
  return eventJson(head, bodyJsonOf(form, bytes), bytes.length);
}

/** True when the bytes can be restored from the body's JSON text: UTF-8, no BOM, no character replaced. */
function isRestorable(form: BodyForm, bytes: Uint8Array, bodyJson: string): boolean {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return false;
  return form.kind === 'json' || (form.charset === UTF_8 && !bodyJson.includes('\ufffd'));
}

/** The most bytes of UTF-8 that decode to one UTF-16 code unit, malformed sequences that become U+FFFD included. */
const UTF_8_BYTES_A_UNIT = 3;

/** True for a body that is too long for memory however it decodes, so that it need not be decoded. */
const isSurelyLong = (form: BodyForm, bytes: Uint8Array): boolean =>
  (form.kind === 'json' || form.charset === UTF_8) && bytes.length > INLINE_CHARACTERS_MAX * UTF_8_BYTES_A_UNIT;

/** Makes the inbox's event for an acceptable body; a short event is inline. */
export function inboxEventOf(record: Omit<EventRecord, 'isInline'>): InboxEvent {
  const { id, head, form, bytes } = record;
  const isText = form.kind === 'text';
  const long: InboxEvent = { id, json: null, bodyStart: 0, isText, bytes: null };
  if (isSurelyLong(form, bytes)) return long;
  const bodyJson = bodyJsonOf(form, bytes);
  if (head.length + bodyJson.length + TAIL_LENGTH_MAX > INLINE_CHARACTERS_MAX) return long;
  const json = eventJson(head, bodyJson, bytes.length);
  return { id, json, bodyStart: head.length, isText, bytes: isRestorable(form, bytes, bodyJson) ? null : bytes };
}

export interface RawBody {
  readonly bytes: Uint8Array;
  /** Content-Type as sent; null = the sender gave none. */
  readonly contentType: string | null;
}

/** Restores the exact body of an event that memory holds whole. */
export function rawOf(event: InboxEvent & { readonly json: string }): RawBody {
  const contentType = originalContentType(event.json.slice(0, event.bodyStart));
  if (event.bytes !== null) return { bytes: event.bytes, contentType };
  const bodyJson = event.json.slice(event.bodyStart, event.json.lastIndexOf(TAIL_START));
  return { bytes: encoder.encode(event.isText ? (JSON.parse(bodyJson) as string) : bodyJson), contentType };
}
