/**
 * Hints between processes that callbacks have news, by LISTEN and NOTIFY where the database supports them. A hint only
 * makes a poll come sooner (waits.ts), so it may be lost, doubled or late, and nothing waits until it is sent.
 *
 * NOTIFY takes a server-wide lock at commit, so no transaction that records anything contains one. Instead a separate
 * connection listens and sends, with asynchronous commits and one NOTIFY at a time; hints that come meanwhile go with the next.
 */
import { MINUTE_MS } from '../../../base/durations.ts';
import type { Timers } from '../../../base/timers.ts';
import type { CallbackId } from '../../../callback/identifier.ts';
import type { Connection } from '../connections.ts';
import type { Database } from '../database.ts';

const CHANNEL = 'paygrade_events';
/** PostgreSQL limits a payload to 8000 bytes; an id takes 27 and a comma. */
const ID_COUNT_MAX = 250;
const RECONNECT_MS = 1000;
/** Longest pause, for a database without LISTEN or a pooler that does not pass it on. */
const RECONNECT_MS_MAX = MINUTE_MS;

export interface HintPorts {
  readonly timers: Timers;
  readonly database: Database;
  /** Names this process, which needs no hints of its own. */
  readonly processId: string;
  /** null: of any callback. */
  onHint(ids: readonly CallbackId[] | null): void;
}

export class Hints {
  readonly #ports: HintPorts;
  #connection: Connection | undefined;
  readonly #news = new Set<CallbackId>();
  #isSending = false;
  #pauseMs = RECONNECT_MS;
  #isClosed = false;
  #cancel = (): void => {};
  #connecting: Promise<void> = Promise.resolve();

  constructor(ports: HintPorts) {
    this.#ports = ports;
  }

  /** Connects in the background, and reconnects whenever the connection is lost. */
  start(): void {
    this.#connecting = this.#connect();
  }

  /** Tells other processes that a callback has news. Costs the caller nothing. */
  send(id: CallbackId): void {
    if (this.#connection === undefined) return;
    this.#news.add(id);
    if (!this.#isSending) void this.#sendAll(this.#connection);
  }

  /** Resolves when its connection is gone. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#connecting;
    this.#drop();
  }

  async #connect(): Promise<void> {
    try {
      const connection = await this.#ports.database.connect();
      // Its session settings differ from the pool's, so it is never returned there.
      const lost = (): void => {
        if (this.#connection !== connection) return;
        this.#drop();
        this.#connectLater();
      };
      connection.on('notification', ({ channel, payload }) => this.#heard(channel, payload ?? ''));
      connection.on('error', lost);
      connection.on('end', lost);
      try {
        await connection.query({ text: `SET synchronous_commit = off` });
        await connection.query({ text: `LISTEN ${CHANNEL}` });
      } catch (failure) {
        connection.release(true);
        throw failure;
      }
      if (this.#isClosed) {
        connection.release(true);
        return;
      }
      this.#connection = connection;
      this.#pauseMs = RECONNECT_MS;
      // This process missed all hints while it was not listening.
      this.#ports.onHint(null);
    } catch {
      this.#connectLater();
    }
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#ports.timers.after(this.#pauseMs, () => {
      this.#connecting = this.#connect();
    });
    this.#pauseMs = Math.min(this.#pauseMs * 2, RECONNECT_MS_MAX);
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#news.clear();
    connection?.release(true);
  }

  async #sendAll(connection: Connection): Promise<void> {
    this.#isSending = true;
    try {
      // Hints of the same turn share a NOTIFY.
      await undefined;
      while (this.#news.size > 0 && this.#connection === connection) {
        const ids = [...this.#news];
        this.#news.clear();
        const payload = `${this.#ports.processId}:${ids.length > ID_COUNT_MAX ? '*' : ids.join(',')}`;
        await connection.query({ name: 'hint', text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, payload] });
      }
    } catch {
      if (this.#connection === connection) {
        this.#drop();
        this.#connectLater();
      }
    } finally {
      this.#isSending = false;
    }
  }

  #heard(channel: string, payload: string): void {
    if (channel !== CHANNEL) return;
    const [from, ids = ''] = payload.split(':');
    if (from === this.#ports.processId) return;
    this.#ports.onHint(ids === '*' ? null : (ids.split(',') as CallbackId[]));
  }
}
