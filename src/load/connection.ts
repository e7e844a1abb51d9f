/**
 * HTTP/1.1 over one kept-alive socket, one request at a time (RFC 9112). The generator shares a machine with the server
 * it measures, so it does only what reading an answer needs. A request takes about a quarter of the CPU time of
 * undici's Pool or node:http's Agent.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { MIB } from '../base/sizes.ts';
import type { Target } from './target.ts';

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Status line and header lines, one character a byte. */
  readonly head: string;
  /** The body, with transfer coding removed. */
  readonly body: Buffer;
}

/** No answer came. `code` is the system's (ECONNREFUSED, ECONNRESET) or TIMEOUT, CLOSED, MALFORMED, TOO_LARGE. */
export interface TransportFailure {
  readonly kind: 'failure';
  readonly code: string;
}

export type Reply = Answer | TransportFailure;

/** Where connections go: a target, and one of its addresses that passed the check. */
export interface Endpoint {
  readonly target: Target;
  readonly address: string;
}

/** A server that sends more is no paygrade server, and must not fill the generator's memory. */
const HEAD_BYTES_MAX = 64 * 1024;
const BODY_BYTES_MAX = 8 * MIB;

const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BYTES = Buffer.alloc(0);

const titleCase = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** Value of a header, the first one when it repeats. Tries the two usual spellings before it lower-cases the whole head. */
export function headerOf(head: string, name: string): string | undefined {
  let at = head.indexOf(`\r\n${name}:`);
  if (at < 0) at = head.indexOf(`\r\n${titleCase(name)}:`);
  if (at < 0) at = head.toLowerCase().indexOf(`\r\n${name}:`);
  if (at < 0) return undefined;
  const start = at + 2 + name.length + 1;
  const end = head.indexOf('\r\n', start);
  return head.slice(start, end < 0 ? head.length : end).trim();
}

/** `Connection: close`. Few heads contain the word, and looking for it is cheaper than looking for an absent header. */
const isLast = (head: string): boolean =>
  (head.includes('lose') || head.includes('LOSE')) && headerOf(head, 'connection')?.toLowerCase() === 'close';

/** The body of a chunked message. @param bytes from its first byte on @returns undefined: incomplete; null: malformed */
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
      // A paygrade server sends no trailers: the body ends with an empty line.
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

/** How the body ends: after a number of bytes, with the last chunk, or with the connection. */
type Framing = number | 'chunked' | 'close';

/** `Transfer-Encoding`. Most heads have a length instead, so this looks for a part of the word first, as `isLast` does. */
const codingOf = (head: string): string | undefined =>
  head.includes('ransfer-') || head.includes('RANSFER-') ? headerOf(head, 'transfer-encoding') : undefined;

/** Whether lines of `Content-Length` differ. Most heads have one, so this looks for a second end of the word first. */
function hasTwoLengths(head: string): boolean {
  if (head.indexOf('ength:') === head.lastIndexOf('ength:') && !head.includes('ENGTH:')) return false;
  const values = Array.from(head.matchAll(/^content-length:[ \t]*(.*?)[ \t]*$/gim), ([, value]) => value);
  return new Set(values).size > 1;
}

/** undefined: malformed, as a head with two lengths, or with both a coding and a length, is (RFC 9112 §6.3). */
function framingOf(head: string, status: number): Framing | undefined {
  if (status === 204 || status === 304) return 0;
  const length = headerOf(head, 'content-length');
  const coding = codingOf(head);
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' && length === undefined ? 'chunked' : undefined;
  if (length === undefined) return 'close';
  return /^[0-9]{1,10}$/.test(length) && !hasTwoLengths(head) ? Number(length) : undefined;
}

export interface ConnectionOwner {
  /** The connection can take the next request. Called before `onReply` receives the reply. */
  onFree(connection: Connection): void;
  /** The connection is gone. Called before `onReply` receives the failure. */
  onGone(connection: Connection): void;
}

export class Connection {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  #onReply: ((reply: Reply) => void) | undefined;
  #isGone = false;
  /** Received bytes that are not yet interpreted: an incomplete head, or the body so far. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #status = 0;
  #head: string | undefined;
  #framing: Framing = 0;
  /** When `send` received the current request, by the clock of the caller. */
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

  /** Ends the connection; a current request fails with the code. */
  fail(code: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const onReply = this.#onReply;
    this.#onReply = undefined;
    this.#socket.destroy();
    this.#owner.onGone(this);
    onReply?.({ kind: 'failure', code });
  }

  /** Ends the connection; a current request gets no reply. */
  abandon(): void {
    this.#onReply = undefined;
    this.fail('CLOSED');
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
      this.fail('MALFORMED'); // an answer without a request
      return;
    }
    this.#hold(bytes);
    while (this.#head === undefined) if (!this.#readHead()) return;
    this.#readBody();
  }

  /** false: the head is incomplete, or the connection has failed. */
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
