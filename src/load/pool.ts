/** Kept-alive connections to one endpoint, opened on demand up to a maximum. */
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { Connection, type ConnectionOwner, type Endpoint, type Reply } from './connection.ts';

/** Interval between two searches for late requests: a timer per request would cost more than the request. */
const SWEEP_INTERVAL_MS = 50;

export interface PoolOptions {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly connectionCountMax: number;
  /** A request without an answer after this time fails with TIMEOUT. */
  readonly timeoutMs: number;
}

export class Pool implements ConnectionOwner {
  readonly #options: PoolOptions;
  readonly #open = new Set<Connection>();
  /** Last in, first out, so that surplus connections stay idle. */
  readonly #free: Connection[] = [];
  readonly #sweep: ReturnType<typeof setInterval>;
  #isClosed = false;
  /** Called when a connection becomes free or may be opened. */
  onRoom: () => void = () => {};

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#failLate(), SWEEP_INTERVAL_MS);
  }

  hasRoom(): boolean {
    return !this.#isClosed && (this.#free.length > 0 || this.#open.size < this.#options.connectionCountMax);
  }

  /** Sends on a free connection. Call it only while there is room. */
  send(request: string, onReply: (reply: Reply) => void): void {
    let connection = this.#free.pop();
    if (connection === undefined) {
      connection = new Connection(this.#options.endpoint, this);
      this.#open.add(connection);
    }
    connection.send(request, this.#options.clock.monotonicMs(), onReply);
  }

  /** Waits for room, sends, and waits for the reply. For requests before and after a run. */
  async ask(request: string): Promise<Reply> {
    while (!this.hasRoom()) {
      if (this.#isClosed) return { kind: 'failure', code: 'CLOSED' };
      await setTimeout(1);
    }
    return new Promise((resolve) => this.send(request, resolve));
  }

  onFree(connection: Connection): void {
    this.#free.push(connection);
    this.onRoom();
  }

  onGone(connection: Connection): void {
    this.#open.delete(connection);
    const place = this.#free.indexOf(connection);
    if (place >= 0) this.#free.splice(place, 1);
    this.onRoom();
  }

  /** Ends the connections of requests under way, which get no reply, so that others can be opened. */
  abandonBusy(): void {
    for (const connection of [...this.#open]) if (connection.isBusy) connection.abandon();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    for (const connection of [...this.#open]) connection.fail('CLOSED');
  }

  #failLate(): void {
    const sentBeforeMs = this.#options.clock.monotonicMs() - this.#options.timeoutMs;
    for (const connection of [...this.#open]) {
      if (connection.isBusy && connection.sentMs < sentBeforeMs) connection.fail('TIMEOUT');
    }
  }
}
