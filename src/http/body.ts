/**
 * Reads request bodies within bounds of bytes and time, and within one budget of memory for all of them. It refuses a body
 * whose declared length is too long without reading it, and counts the bytes of one without a declared length as they arrive.
 * Neither the runtimes nor this file decompress a body.
 */
import { readAtMost } from '../base/bounded-stream.ts';
import { type Deadlines, TimerEntry } from '../base/deadlines.ts';
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { BodyBudget, BodyClaim, BodyOwner } from './body-budget.ts';

interface WithHeaders {
  readonly headers: { get(name: string): string | null };
}

/** A Fetch `Request`, or an object with these members. */
export interface FetchBody extends WithHeaders {
  readonly body: ReadableStream<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A request whose listener reads bodies itself, at a lower cost than a stream's. */
export interface DirectBody extends WithHeaders {
  /** Whether the head of the request announces a body, of a declared length or not. */
  readonly hasBody: boolean;
  /**
   * Reads the whole body, once; in the same turn if all of it has arrived.
   * @returns undefined as soon as there are more bytes than that. Rejects when the client disconnects before the end
   */
  readAtMost(bytesMax: number): MaybePromise<Uint8Array | undefined>;
}

/** The source of a body. */
export type BodySource = FetchBody | DirectBody;

export interface BodyBounds {
  readonly bytesMax: number;
  /** Milliseconds from now within which the whole body must arrive, time that it waits for the budget included. */
  readonly deadlineMs: number;
  /**
   * Only the budget needs this client's network, so it is looked up only when the budget fills. Otherwise the client is looked
   * up before the body is awaited: Bun forgets the address of a disconnected client, and later ways in count by it.
   */
  readonly isAnonymous?: true;
}

export type BodyRead =
  | { readonly ok: true; readonly bytes: Uint8Array }
  /** The body, or its declared length, is more than `bytesMax`. */
  | { readonly ok: false; readonly kind: 'too-large' }
  /** The body was not complete at the deadline. */
  | { readonly ok: false; readonly kind: 'late' }
  /** Too many bodies of this client wait already. */
  | { readonly ok: false; readonly kind: 'crowded' }
  /** The client disconnected, or sent another length than it had declared. */
  | { readonly ok: false; readonly kind: 'cut' };

const TOO_LARGE = { ok: false, kind: 'too-large' } as const;
const LATE = { ok: false, kind: 'late' } as const;
const CROWDED = { ok: false, kind: 'crowded' } as const;
const CUT = { ok: false, kind: 'cut' } as const;
const DECIMAL = /^[0-9]+$/;

/** The value of `Content-Length`, bytes; undefined without a usable one. */
function declaredBytes(source: BodySource): number | undefined {
  const text = source.headers.get('content-length');
  return text !== null && DECIMAL.test(text) ? Number(text) : undefined;
}

/** What a reader needs of a request. */
export interface BodyRequest extends BodyOwner {
  readonly body: BodySource;
  onDisconnect(listener: DisconnectListener): void;
}

/** A body that is being read, until it has arrived or is late. */
class PendingBody extends TimerEntry {
  readonly #deadlines: Deadlines;
  readonly #end: (read: BodyRead) => void;
  #isOver = false;

  constructor(deadlines: Deadlines, end: (read: BodyRead) => void) {
    super();
    this.#deadlines = deadlines;
    this.#end = end;
  }

  override onDue(): void {
    this.end(LATE);
  }

  /** Does nothing after the first call. */
  end(read: BodyRead): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadlines.remove(this);
    this.#end(read);
  }
}

/** Reads the bodies of all requests of a server. */
export class BodyReader {
  readonly #budget: BodyBudget;
  readonly #deadlines: Deadlines;
  readonly #waitingBytesMax: number;

  /** @param waitingBytesMax memory that a body takes, at most, while it waits unread (`limits.ts`) */
  constructor(budget: BodyBudget, deadlines: Deadlines, waitingBytesMax: number) {
    this.#budget = budget;
    this.#deadlines = deadlines;
    this.#waitingBytesMax = waitingBytesMax;
  }

  /**
   * Reads the whole body and calls `use` with it; the budget counts the body until `use` has ended, so `use` must not store
   * the bytes anywhere without a bound. Throws only what `use` throws.
   *
   * It reads a body with a declared length in one piece, which on both runtimes is much cheaper than a stream; HTTP framing
   * ensures that it is no longer than declared. A body that has arrived already is used in the same turn, without promises or
   * a timer (bench/peers, "webhook").
   */
  use<T>(
    request: BodyRequest,
    { bytesMax, deadlineMs, isAnonymous }: BodyBounds,
    use: (read: BodyRead) => MaybePromise<T>,
  ): MaybePromise<T> {
    const source = request.body;
    const declared = declaredBytes(source);
    if (declared !== undefined && declared > bytesMax) return use(TOO_LARGE);
    const isOpen = declared === undefined && hasBody(source);
    const bytes = declared ?? (isOpen ? bytesMax : 0);
    const waitingBytes = isOpen ? this.#waitingBytesMax : Math.min(bytes, this.#waitingBytesMax);
    if (isAnonymous !== true) request.clientNetwork();
    const claim = this.#budget.claim(request, bytes, waitingBytes);
    if (claim === undefined) return use(CROWDED);
    const reading = claim.isGranted
      ? readNow(source, isOpen, bytesMax)
      : readLater(claim, request, () => readNow(source, isOpen, bytesMax));
    if (!(reading instanceof Promise)) return used(claim, reading, use);
    return new Promise((resolve, reject) => {
      const end = (read: BodyRead): void => {
        try {
          resolve(used(claim, read, use));
        } catch (failure) {
          reject(failure);
        }
      };
      const pending = new PendingBody(this.#deadlines, end);
      this.#deadlines.add(pending, deadlineMs);
      void reading.then((read) => pending.end(read));
    });
  }
}

const hasBody = (source: BodySource): boolean => ('readAtMost' in source ? source.hasBody : source.body !== null);

/** Calls `use`, and releases the claim when it has ended. */
function used<T>(claim: BodyClaim, read: BodyRead, use: (read: BodyRead) => MaybePromise<T>): MaybePromise<T> {
  // A body that was not read to its end needs no memory any more: its connection ends with the answer.
  if (!read.ok) claim.release();
  let result: MaybePromise<T>;
  try {
    result = use(read);
  } catch (failure) {
    claim.release();
    throw failure;
  }
  if (result instanceof Promise) return result.finally(() => claim.release());
  claim.release();
  return result;
}

/** The listener discards what is left unread. Never throws and never rejects. @param isOpen the body has no declared length */
function readNow(source: BodySource, isOpen: boolean, bytesMax: number): MaybePromise<BodyRead> {
  const readOf = (bytes: Uint8Array | undefined): BodyRead =>
    bytes === undefined || bytes.length > bytesMax ? TOO_LARGE : { ok: true, bytes };
  if ('readAtMost' in source) {
    const reading = source.readAtMost(bytesMax);
    return reading instanceof Promise ? reading.then(readOf, () => CUT) : readOf(reading);
  }
  const stream = isOpen ? source.body : null;
  if (stream !== null) return readStream(stream, bytesMax).then(readOf, () => CUT);
  return source.arrayBuffer().then(
    (buffer) => readOf(new Uint8Array(buffer)),
    () => CUT,
  );
}

/** @returns undefined for more bytes than that. Async so that a stream that is locked already is a rejection too */
async function readStream(stream: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array | undefined> {
  return readAtMost(stream.getReader(), bytesMax);
}

/** Reads when the claim is granted. Never rejects. */
async function readLater(
  claim: BodyClaim,
  request: BodyRequest,
  read: () => MaybePromise<BodyRead>,
): Promise<BodyRead> {
  request.onDisconnect(claim);
  return (await claim.granted()) ? read() : CUT;
}

/** True when the head of the request announces no body. */
export function isBodyless(source: BodySource): boolean {
  const declared = declaredBytes(source);
  return declared === undefined ? !hasBody(source) : declared === 0;
}
