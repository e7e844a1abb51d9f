/**
 * Reads request bodies within bounds: bytes and time. A declared length that is too long is refused unread; without one the
 * bytes are counted as they arrive. Nothing is inflated, neither by the runtimes nor here.
 */
import type { Timers } from '../base/timers.ts';

/** Where a body comes from: a Fetch `Request`, or anything that has one in its shape. */
export interface BodySource {
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface BodyBounds {
  readonly bytesMax: number;
  /** Milliseconds from now within which the whole body must have come, however fast it drips. */
  readonly deadlineMs: number;
}

export type BodyRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  /** More than `bytesMax`, or said to be. */
  | { readonly ok: false; readonly kind: 'too-large' }
  /** Not whole at the deadline. */
  | { readonly ok: false; readonly kind: 'late' }
  /** The client went away, or sent something other than it had announced. */
  | { readonly ok: false; readonly kind: 'cut' };

const TOO_LARGE = { ok: false, kind: 'too-large' } as const;
const LATE = { ok: false, kind: 'late' } as const;
const CUT = { ok: false, kind: 'cut' } as const;
const DECIMAL = /^[0-9]+$/;

/** Bytes that `Content-Length` announces; undefined without a usable one. */
function declaredBytes(source: BodySource): number | undefined {
  const text = source.headers.get('content-length');
  return text !== null && DECIMAL.test(text) ? Number(text) : undefined;
}

async function readDeclared(source: BodySource, bytesMax: number): Promise<BodyRead> {
  const bytes = new Uint8Array(await source.arrayBuffer());
  return bytes.length > bytesMax ? TOO_LARGE : { ok: true, bytes };
}

/** Stops within one chunk after `bytesMax`; what is left unread is the listener's to throw away. */
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
 * The whole body, or why not. Never throws and never rejects.
 *
 * A body with a declared length is taken in one piece (on both runtimes several times cheaper than a stream); HTTP framing
 * keeps it to what was declared.
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

/** True when there is no body at all, as far as the head of the request tells. */
export function isBodyless(source: BodySource): boolean {
  const declared = declaredBytes(source);
  return declared === undefined ? source.body === null : declared === 0;
}
