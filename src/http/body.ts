/**
 * Reads request bodies within bounds of bytes and time. It refuses a declared length that is too long without reading, and
 * counts the bytes of a body without a declared length as they arrive. Neither the runtimes nor this file decompress a body.
 */
import type { Timers } from '../base/timers.ts';

/** The source of a body: a Fetch `Request`, or an object with these members. */
export interface BodySource {
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface BodyBounds {
  readonly bytesMax: number;
  /** Milliseconds from now within which the whole body must arrive. */
  readonly deadlineMs: number;
}

export type BodyRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  /** The body, or its declared length, is more than `bytesMax`. */
  | { readonly ok: false; readonly kind: 'too-large' }
  /** The body was not complete at the deadline. */
  | { readonly ok: false; readonly kind: 'late' }
  /** The client disconnected, or sent another length than it had declared. */
  | { readonly ok: false; readonly kind: 'cut' };

const TOO_LARGE = { ok: false, kind: 'too-large' } as const;
const LATE = { ok: false, kind: 'late' } as const;
const CUT = { ok: false, kind: 'cut' } as const;
const DECIMAL = /^[0-9]+$/;

/** The value of `Content-Length`, bytes; undefined without a usable one. */
function declaredBytes(source: BodySource): number | undefined {
  const text = source.headers.get('content-length');
  return text !== null && DECIMAL.test(text) ? Number(text) : undefined;
}

async function readDeclared(source: BodySource, bytesMax: number): Promise<BodyRead> {
  const bytes = new Uint8Array(await source.arrayBuffer());
  return bytes.length > bytesMax ? TOO_LARGE : { ok: true, bytes };
}

/** Stops within one chunk after `bytesMax`; the listener discards the unread rest. */
async function readCounted(reader: ReadableStreamDefaultReader<Uint8Array>, bytesMax: number): Promise<BodyRead> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    byteCount += value.length;
    if (byteCount > bytesMax) return TOO_LARGE;
    chunks.push(value);
  }
  const bytes = new Uint8Array(byteCount);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { ok: true, bytes };
}

/**
 * Reads the whole body. Never throws and never rejects.
 *
 * It reads a body with a declared length in one piece, which on both runtimes is much cheaper than a stream; HTTP framing
 * ensures that it is no longer than declared.
 */
export async function readBody(source: BodySource, bounds: BodyBounds, timers: Timers): Promise<BodyRead> {
  const declared = declaredBytes(source);
  if (declared !== undefined && declared > bounds.bytesMax) return TOO_LARGE;
  let cancelTimer: () => void = () => {};
  const deadline = new Promise<BodyRead>((resolve) => {
    cancelTimer = timers.after(bounds.deadlineMs, () => resolve(LATE));
  });
  try {
    const reading =
      declared === undefined && source.body !== null
        ? readCounted(source.body.getReader(), bounds.bytesMax)
        : readDeclared(source, bounds.bytesMax);
    return await Promise.race([reading, deadline]);
  } catch {
    return CUT;
  } finally {
    cancelTimer();
  }
}

/** True when the head of the request announces no body. */
export function isBodyless(source: BodySource): boolean {
  const declared = declaredBytes(source);
  return declared === undefined ? source.body === null : declared === 0;
}
