/**
 * An event, a stored webhook (callback.md, "Event"), as memory and the event store hold it: its head, which is the JSON text
 * of the event up to `"body":`, and the body's bytes as they arrived. Escaping can make a body's JSON text six times as long
 * as the body, so that text is never stored; event-json.ts makes it when a client reads.
 */
import { Buffer } from 'node:buffer';
import { isoTime } from '../base/iso-time.ts';
import type { BodyForm } from '../base/media-type.ts';
import type { EventId } from './identifier.ts';
import { isJson } from './json-text.ts';
import { INLINE_BYTES_MAX, RETAINED_CHARACTERS_MAX } from './limits.ts';

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
  /** True when the inbox holds the whole event in memory: a store that does not outlive the process need not store it. */
  readonly isInline: boolean;
}

/** An event as the inbox holds it in memory. */
export interface InboxEvent {
  readonly id: EventId;
  /**
   * Head and body in one text, each byte of the body as a code unit 0 to 255: one flat string takes less memory than a head and
   * an array. null = the event is in the store only.
   */
  readonly text: string | null;
  /** Length of the head: where the body begins in `text`. */
  readonly bodyStart: number;
  readonly form: BodyForm;
  /** Bytes of the body. */
  readonly sizeBytes: number;
}

/** An event that memory holds whole. */
export type InlineEvent = InboxEvent & { readonly text: string };

/** One part of an event: EVENT_PART_BYTES of its body, the last part fewer. An empty body has one empty part. */
export interface EventPart {
  readonly head: string;
  readonly form: BodyForm;
  /** Bytes of the whole body. */
  readonly sizeBytes: number;
  /** The body's bytes in this part; never modified. */
  readonly bytes: Uint8Array;
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
const RETAINED_HEADERS = [
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

/**
 * Picks the headers that the event retains. A value is retained whole or not at all, because half a signature would fail its
 * check for no visible reason. If not all values fit, the earlier ones in RETAINED_HEADERS win.
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
export const eventHead = (id: EventId, receivedAtSeconds: number, method: string, retained: RetainedHeaders): string =>
  headOf(id, receivedAtSeconds, headRest(method, retained));

/** The head of an event, from its time of receipt and the text from {@link headRest}. */
export function headOf(id: EventId, receivedAtSeconds: number, rest: string): string {
  const receivedAt = isoTime(receivedAtSeconds * 1000).slice(0, -'.000Z'.length);
  return `{"id":"${id}","received_at":"${receivedAt}Z",${rest}`;
}

const BEYOND_LATIN1 = /[\u0100-\uffff]/g;

/**
 * The text that follows the time of receipt in a head; all of it is known before the event is stored. It is Latin-1, because
 * header values have no other characters (Fetch, "byte sequence"); others that a caller of the library passes are escaped.
 */
export function headRest(method: string, retained: RetainedHeaders): string {
  const headers = retained.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',');
  const contentType = JSON.stringify(contentTypeSent(retained) ?? CONTENT_TYPE_WITHOUT_HEADER);
  const rest = `"method":"${method}","content_type":${contentType},"headers":{${headers}},"body":`;
  return rest.replace(BEYOND_LATIN1, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function contentTypeSent(retained: RetainedHeaders): string | undefined {
  return retained[0]?.[0] === 'content-type' ? retained[0][1] : undefined;
}

/** Reads the sender's Content-Type from an event's head; null when there was none. */
export function originalContentType(head: string): string | null {
  const { headers } = JSON.parse(`${head}null}`) as { headers: Record<string, string> };
  return headers['content-type'] ?? null;
}

/** False for a JSON body whose bytes are not acceptable JSON. */
export function isAcceptable(form: BodyForm, bytes: Uint8Array): boolean {
  return form.kind === 'text' || isJson(bytes);
}

/** True when memory holds the event whole. */
const isInline = (head: string, sizeBytes: number): boolean => head.length + sizeBytes <= INLINE_BYTES_MAX;

/** Makes the inbox's event for an acceptable body; a short event is inline. @param bytes null = in the store only */
export function inboxEventOf(
  { id, head, form }: Pick<EventRecord, 'id' | 'head' | 'form'>,
  sizeBytes: number,
  bytes: Uint8Array | null,
): InboxEvent {
  const isHeld = bytes !== null && isInline(head, sizeBytes);
  return { id, text: isHeld ? joined(head, bytes) : null, bodyStart: head.length, form, sizeBytes };
}

/** Scratch: head and body of one inline event. */
const inline = Buffer.alloc(INLINE_BYTES_MAX);

/**
 * One flat string, made in one step: joining two texts would first make the body's text, and a template literal would keep a
 * tree of its pieces alive until the first read. A head has characters of Latin-1 only ({@link headRest}).
 */
function joined(head: string, bytes: Uint8Array): string {
  inline.write(head, 'latin1');
  inline.set(bytes, head.length);
  return inline.toString('latin1', 0, head.length + bytes.length);
}

/** The single part of an inline event. */
export function inlinePart({ text, bodyStart, form, sizeBytes }: InlineEvent): EventPart {
  return { head: text.slice(0, bodyStart), form, sizeBytes, bytes: Buffer.from(text.slice(bodyStart), 'latin1') };
}
