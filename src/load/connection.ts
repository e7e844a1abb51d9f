/**
 * HTTP/1.1 over one kept-alive socket, one request at a time (RFC 9112). The generator shares a machine with what it
 * measures, so this is no more than an answer needs: on Node 26 a request costs 22 µs of the generator's CPU this way, 81
 * with undici's Pool and 109 with node:http's Agent; on Bun 1.4.5 20 against 96 with node:http (64 connections to a bare
 * node:http server on the other core, medians of three interleaved rounds; undici 8 would also need Node 22.19).
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { Target } from './target.ts';

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Status line and header lines, one character a byte. */
  readonly head: string;
  /** Transfer coding removed. */
  readonly body: Buffer;
}

/** No answer. `code` is the system's (ECONNREFUSED, ECONNRESET) or TIMEOUT, CLOSED, MALFORMED, TOO_LARGE. */
export interface TransportFailure {
  readonly kind: 'failure';
  readonly code: string;
}

export type Reply = Answer | TransportFailure;

/** Where connections go: a target and one judged address of it. */
export interface Endpoint {
  readonly target: Target;
  readonly address: string;
}

/** A server that sends more is not one of ours, and must not fill the generator. */
const HEAD_BYTES_MAX = 64 * 1024;
const BODY_BYTES_MAX = 8 * 1024 * 1024;

const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BYTES = Buffer.alloc(0);

const titleCase = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Value of a header, the first of a repeated one. The two usual spellings are found without a walk over all lines. */
export function headerOf(head: string, name: string): string | undefined {
  let at = head.indexOf(`\r\n${name}:`);
  if (at < 0) at = head.indexOf(`\r\n${titleCase(name)}:`);
  if (at < 0) at = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (at < 0) return undefined;
  const start = at + 2 + name.length + 1;
  const end = head.indexOf('\r\n', start);
  return head.slice(start, end < 0 ? head.length : end).trim();
}

/** `Connection: close`. Nearly no head holds the word, and to look for it costs less than to look for a header that is absent. */
const isLast = (head: string): boolean =>
  (head.includes('lose') || head.includes('LOSE')) && headerOf(head, 'connection')?.toLowerCase() === 'close';

/** The body of a chunked message from its first byte; undefined: more must come; null: it is not chunked as it should be. */
export function unchunked(bytes: Buffer): Buffer | undefined | null {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at, 'latin1');
    if (lineEnd < 0) return bytes.length - at > 1024 ? null : undefined;
    const digits = /^[0-9a-fA-F]{1,8}(?=[;\s]|$)/.exec(bytes.toString('latin1', at, lineEnd))?.[0];
    if (digits === undefined) return null;
    const byteCount = Number.parseInt(digits, 16);
    if (byteCount > BODY_BYTES_MAX) return null;
    at = lineEnd + 2;
    if (byteCount === 0) {
      // No server of ours sends trailers; the body ends with an empty line.
      if (bytes.length < at + 2) return undefined;
      return bytes.toString('latin1', at) === '\r\n' ? Buffer.concat(parts) : null;
    }
    if (bytes.length < at + byteCount + 2) return undefined;
    parts.push(bytes.subarray(at, at + byteCount));
    at += byteCount;
    if (bytes[at] !== 13 || bytes[at + 1] !== 10) return null;
    at += 2;
  }
}

/** How an answer's end is known: a count of bytes, the last chunk, or the end of the connection. */
type Framing = number | 'chunked' | 'close';

function framingOf(head: string, status: number): Framing | undefined {
  if (status === 204 || status === 304) return 0;
  const length = headerOf(head, 'content-length');
  if (length !== undefined) return /^[0-9]{1,10}$/.test(length) ? Number(length) : undefined;
  const coding = headerOf(head, 'transfer-encoding');
  if (coding === undefined) return 'close';
  return coding.toLowerCase() === 'chunked' ? 'chunked' : undefined;
}

export interface ConnectionOwner {
  /** The connection can take the next request. Called before the reply is handed over. */
  onFree(connection: Connection): void;
  /** The connection is gone. Called before a failure is handed over. */
  onGone(connection: Connection): void;
}

export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  #onReply: ((reply: Reply) => void) | undefined;
  #isGone = false;
  /** Bytes that have come and mean nothing yet: an unfinished head, or the body's so far. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #status = 0;
  #head: string | undefined;
  #framing: Framing = 0;
  /** When the request under way was handed over, by the clock of the caller. */
  sentMs = 0;

  constructor({ target, address }: Endpoint, owner: ConnectionOwner) {
    this.#owner = owner;
    const { port, hostname, isSecure } = target;
    this.#socket = isSecure
      ? connectSecure({ host: address, port, ...(isIP(hostname) ? {} : { servername: hostname }) })
      : connectPlain(port, address);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes: Buffer) => this.#onData(bytes));
    this.#socket.on('end', () => this.#onEnd());
    this.#socket.on('error', (failure: NodeJS.ErrnoException) => this.fail(failure.code ?? 'CLOSED'));
    this.#socket.on('close', () => this.fail('CLOSED'));
  }

  get isBusy(): boolean {
    return this.#onReply !== undefined;
  }

  /** @param request head and body, one character a byte; `onReply` is called once, never from within this call */
  send(request: string, nowMs: number, onReply: (reply: Reply) => void): void {
    this.#onReply = onReply;
    this.sentMs = nowMs;
    this.#socket.write(request, 'latin1');
  }

  /** Ends the connection; the request under way, if there is one, has failed. */
  fail(code: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const onReply = this.#onReply;
    this.#onReply = undefined;
    this.#socket.destroy();
    this.#owner.onGone(this);
    onReply?.({ kind: 'failure', code });
  }

  #onEnd(): void {
    if (this.#head !== undefined && this.#framing === 'close') this.#finish(this.#takePending());
    this.fail('CLOSED');
  }

  #takePending(): Buffer {
    const [first = NO_BYTES] = this.#pending;
    const whole = this.#pending.length > 1 ? Buffer.concat(this.#pending) : first;
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  #onData(bytes: Buffer): void {
    if (this.#isGone) return;
    if (this.#onReply === undefined) {
      this.fail('MALFORMED'); // an answer that nobody asked for
      return;
    }
    this.#hold(bytes);
    while (this.#head === undefined) if (!this.#readHead()) return;
    this.#readBody();
  }

  /** false: the head is not whole, or the connection was given up. */
  #readHead(): boolean {
    const bytes = this.#takePending();
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd < 0) {
      if (bytes.length > HEAD_BYTES_MAX) this.fail('TOO_LARGE');
      else this.#hold(bytes);
      return false;
    }
    const head = bytes.toString('latin1', 0, headEnd);
    const status = /^HTTP\/1\.[01] [1-5][0-9][0-9](?= |\r|$)/.test(head) ? Number(head.slice(9, 12)) : 0;
    this.#hold(bytes.subarray(headEnd + HEAD_END.length));
    if (status >= 100 && status < 200) return true; // an interim answer: the next head follows
    const framing = status === 0 ? undefined : framingOf(head, status);
    if (framing === undefined) {
      this.fail('MALFORMED');
      return false;
    }
    this.#status = status;
    this.#framing = framing;
    this.#head = head;
    return true;
  }

  #readBody(): void {
    const framing = this.#framing;
    if (this.#pendingBytes > BODY_BYTES_MAX) this.fail('TOO_LARGE');
    else if (framing === 'chunked') {
      const bytes = this.#takePending();
      const body = unchunked(bytes);
      if (body === null) this.fail('MALFORMED');
      else if (body === undefined) this.#hold(bytes);
      else this.#finish(body);
    } else if (framing !== 'close' && this.#pendingBytes >= framing) {
      if (this.#pendingBytes > framing) this.fail('MALFORMED');
      else this.#finish(this.#takePending());
    }
  }

  #finish(body: Buffer): void {
    const onReply = this.#onReply;
    const head = this.#head ?? '';
    this.#onReply = undefined;
    this.#head = undefined;
    if (this.#framing === 'close' || isLast(head)) this.fail('CLOSED');
    else this.#owner.onFree(this);
    onReply?.({ kind: 'answer', status: this.#status, head, body });
  }
}
