/**
 * One client's socket under node:http. Its requests are handled one at a time: node:http dispatches all requests of one
 * read at once, and their answers would pile up in memory if the client reads none. The next request starts when the
 * kernel has accepted the previous answer, so a socket has at most one answer of unread output.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DISCARD_MS, WAITING_BYTES_MAX, WAITING_COUNT_MAX, WAITING_OVERHEAD_BYTES } from './limits.ts';

export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Memory of the waiting requests of all sockets; every socket adds its part. */
export interface WaitingTotal {
  bytes: number;
}

export interface SocketPorts {
  /** Runs the handler of a request: now, or at the end of the turn for one with a body. */
  handle(served: ServedSocket, incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** A request waits and the one before it has ended; the receiver calls `startNext` at the socket's turn. */
  onReady(served: ServedSocket): void;
  readonly waitingTotal: WaitingTotal;
}

export class ServedSocket {
  readonly socket: Socket;
  /** The client network under which it is counted; undefined if under none. */
  readonly network: string | undefined;
  /** Monotonic time since which the kernel has accepted none of the pending output; undefined without output. */
  stalledSinceMs: number | undefined;
  /** Bytes that the kernel had accepted at that time. */
  acceptedBytes = 0;
  /** Monotonic time since which there is more unread output than one connection may leave. */
  largeSinceMs: number | undefined;
  readonly #ports: SocketPorts;
  /** This socket's part of the total. */
  #countedBytes = 0;
  readonly #waiting: Exchange[] = [];
  /** The answer that has not been sent yet. */
  #running: ServerResponse | undefined;
  #isPaused = false;
  #hasResumeListener = false;
  /** `bytesRead` of the socket when the first of the waiting requests arrived. */
  #bytesReadBefore = 0;

  constructor(socket: Socket, network: string | undefined, ports: SocketPorts) {
    this.socket = socket;
    this.network = network;
    this.#ports = ports;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** True while no handler runs, no request waits and the kernel has accepted every answer. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /** Whether a part of the answer has been written, and perhaps all of it, and the next request has not begun. */
  get isAnswering(): boolean {
    return this.#running?.headersSent === true;
  }

  start(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#running = outgoing;
    outgoing.on('finish', this.#onFinish);
    this.#ports.handle(this, incoming, outgoing);
  }

  /** Makes a request wait. False: there is no room for another one. */
  tryWait(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { socket } = this;
    if (this.#waiting.length >= WAITING_COUNT_MAX) return false;
    if (this.#waiting.length === 0) this.#bytesReadBefore = socket.bytesRead;
    this.#waiting.push({ incoming, outgoing });
    this.#count();
    if (socket.bytesRead - this.#bytesReadBefore >= WAITING_BYTES_MAX) this.#pause();
    return true;
  }

  /** Drops the waiting requests of a socket that is closed. */
  drop(): void {
    this.#waiting.length = 0;
    this.#count();
  }

  /** node:http's own listener ran first and has assigned the socket to the next answer. */
  readonly #onFinish = (): void => {
    if (this.#running?.req.complete === false) this.#discardRestOf(this.#running.req);
    if (this.#waiting.length === 0) this.#running = undefined;
    else this.#ports.onReady(this);
  };

  #discardRestOf(incoming: IncomingMessage): void {
    incoming.resume();
    const timer = setTimeout(() => this.socket.destroySoon(), DISCARD_MS);
    incoming.once('close', () => clearTimeout(timer));
  }

  /** Runs the handler of the request that waited longest. */
  startNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return; // closed meanwhile
    this.#count();
    if (this.#isPaused && this.#waiting.length === 0) {
      this.#isPaused = false;
      this.socket.resume();
    }
    this.start(next.incoming, next.outgoing);
  }

  /** Brings this socket's part of the total up to date. */
  #count(): void {
    const { length } = this.#waiting;
    const bytes = length === 0 ? 0 : length * WAITING_OVERHEAD_BYTES + this.socket.bytesRead - this.#bytesReadBefore;
    this.#ports.waitingTotal.bytes += bytes - this.#countedBytes;
    this.#countedBytes = bytes;
  }

  #pause(): void {
    const { socket } = this;
    this.#isPaused = true;
    socket.pause();
    if (this.#hasResumeListener) return;
    this.#hasResumeListener = true;
    // node:http resumes the socket at the end of each message that it has parsed.
    socket.on('resume', () => {
      if (this.#isPaused) socket.pause();
    });
  }
}
