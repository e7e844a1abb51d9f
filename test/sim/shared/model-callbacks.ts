/** What the statements about callbacks mean (src/storage/postgres/callbacks/statements.ts). */
import {
  EVENT_COUNT_MAX,
  EVENT_PART_BYTES,
  INLINE_BYTES_MAX,
  LIFETIME_MS,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
  SWEEP_COUNT_MAX,
  TOMBSTONE_MS,
} from '../../../src/callback/limits.ts';
import type { Row } from '../../../src/storage/postgres/connections.ts';
import type { Meanings } from './model.ts';

const CLAIM_MS = 300_000;

export interface EventRow {
  readonly id: string;
  readonly seq: number;
  readonly receivedSeconds: number;
  readonly headRest: string;
  readonly charset: string | null;
  readonly body: Uint8Array;
  /** When it was stored, by the database's clock. */
  readonly atMs: number;
}

export interface CallbackRow {
  readonly id: string;
  readonly tokenDigest: Uint8Array;
  readonly expiresMs: number;
  events: EventRow[];
  eventCount: number;
  lastReceivedSeconds: number;
  isOver: boolean;
}

interface Rate {
  passes: number[];
  passed: number;
  lastMs: number;
  attempt: unknown;
}

type Columns = readonly unknown[];

const texts = (value: unknown): readonly string[] => value as readonly string[];
const numbers = (value: unknown): readonly number[] => value as readonly number[];

const NO_EVENT = { id: null, seq: null, received_s: null, head_rest: null, charset: null, size: null };

const columnsOf = (event: EventRow | undefined): Row =>
  event === undefined
    ? { ...NO_EVENT, body: null }
    : {
        id: event.id,
        seq: event.seq,
        received_s: event.receivedSeconds,
        head_rest: event.headRest,
        charset: event.charset,
        size: event.body.length,
        body: event.body.length <= INLINE_BYTES_MAX ? event.body : null,
      };

export class CallbackTables {
  readonly callbacks = new Map<string, CallbackRow>();
  readonly claims = new Map<string, number>();
  /** Callbacks and claims. */
  claimed = 0;
  readonly meanings: Meanings;
  readonly #rates = new Map<string, Rate>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.meanings = {
      'admit-webhooks': (values) => this.#admit(values),
      'find-callbacks': ([ids]) => texts(ids).map((id) => this.#found(id)),
      'claim-callbacks': (values) => this.#claim(values),
      'give-back-claim': ([id]) => this.#unclaim(id as unknown as string),
      'create-callback': (values) => this.#create(values),
      'append-events': (values) => this.#append(values),
      'list-events': ([id]) => this.#list(id as unknown as string),
      'find-event': ([id, eventId]) => this.#event(id as unknown as string, eventId as unknown as string),
      'read-event-part': (values) => this.#part(values),
      'look-for-events': (values) => this.#look(values),
      'poll-callbacks': (values) => this.#news(values),
      'delete-callback': ([id]) => this.#delete(id as unknown as string),
      'sweep-callbacks': ([nowMs]) => this.#sweep(nowMs as unknown as number),
      'forget-callbacks': () => this.#forget(),
      'forget-callback-rates': () => this.#forgetRates(),
      'count-callbacks': () => this.#counts(),
      hint: () => [{ pg_notify: '' }],
    };
  }

  #admit([ids, tries, attempt]: Columns): Row[] {
    const nowMs = this.#nowMs();
    return texts(ids).map((id, i) => {
      const rate = this.#rates.get(id);
      const isRepeat = rate?.attempt === attempt;
      const kept = (rate?.passes ?? []).filter((pass) => pass > nowMs - RATE_WINDOW_MS).sort((a, b) => a - b);
      const room = Math.min(numbers(tries)[i] as number, RATE_COUNT_MAX - kept.length);
      const passed = isRepeat ? (rate?.passed ?? 0) : room;
      const passes = isRepeat ? (rate?.passes ?? []) : [...kept, ...Array<number>(passed).fill(nowMs)];
      this.#rates.set(id, { passes, passed, lastMs: nowMs, attempt });
      const callback = this.callbacks.get(id);
      return {
        id,
        passed,
        oldest_ms: passes[0] ?? null,
        expires_ms: callback?.expiresMs ?? null,
        event_count: callback?.eventCount ?? null,
        now_ms: nowMs,
      };
    });
  }

  #found(id: string): Row {
    const callback = this.callbacks.get(id);
    return {
      token_digest: callback?.tokenDigest ?? null,
      expires_ms: callback?.expiresMs ?? null,
      event_count: callback?.eventCount ?? null,
      now_ms: this.#nowMs(),
    };
  }

  #claim([ids, countMax]: Columns): Row[] {
    let place = 0;
    const room = (countMax as number) - this.claimed;
    let made = 0;
    for (const id of texts(ids)) {
      if (this.claims.has(id)) continue;
      if (++place > room) continue;
      this.claims.set(id, this.#nowMs() + CLAIM_MS);
      made++;
    }
    this.claimed += made;
    return [{ held: texts(ids).filter((id) => this.claims.has(id)), claimed: this.claimed }];
  }

  #unclaim(id: string): Row[] {
    if (!this.claims.delete(id)) return [];
    this.claimed--;
    return [{ claimed: this.claimed }];
  }

  #create([id, tokenDigest, claim]: Columns): Row[] {
    if (this.claims.delete(claim as string)) this.claimed--;
    const before = this.callbacks.get(id as string);
    const nowMs = this.#nowMs();
    if (before !== undefined) {
      return [{ token_digest: before.tokenDigest, expires_ms: before.expiresMs, is_new: false, now_ms: nowMs }];
    }
    const callback: CallbackRow = {
      id: id as string,
      tokenDigest: Buffer.from(tokenDigest as Uint8Array),
      expiresMs: nowMs + LIFETIME_MS,
      events: [],
      eventCount: 0,
      lastReceivedSeconds: 0,
      isOver: false,
    };
    this.callbacks.set(callback.id, callback);
    this.claimed++;
    return [{ token_digest: callback.tokenDigest, expires_ms: callback.expiresMs, is_new: true, now_ms: nowMs }];
  }

  #append([ids, eventIds, rests, charsets, starts, sizes, bodies]: Columns): Row[] {
    const nowMs = this.#nowMs();
    const rows: Row[] = [];
    for (const [i, id] of texts(ids).entries()) {
      const callback = this.callbacks.get(id);
      if (callback === undefined) continue;
      const before = { expires_ms: callback.expiresMs, event_count: callback.eventCount, now_ms: nowMs };
      const eventId = texts(eventIds)[i] as string;
      const known = callback.events.find((event) => event.id === eventId);
      let seq = known?.seq ?? null;
      let receivedSeconds: number | null = null;
      if (known === undefined && callback.expiresMs > nowMs && callback.eventCount < EVENT_COUNT_MAX) {
        seq = ++callback.eventCount;
        receivedSeconds = Math.max(callback.lastReceivedSeconds, Math.floor(nowMs / 1000));
        callback.lastReceivedSeconds = receivedSeconds;
        const start = (numbers(starts)[i] as number) - 1;
        callback.events.push({
          id: eventId,
          seq,
          receivedSeconds,
          headRest: texts(rests)[i] as string,
          charset: (charsets as readonly (string | null)[])[i] ?? null,
          body: Buffer.from((bodies as Buffer).subarray(start, start + (numbers(sizes)[i] as number))),
          atMs: nowMs,
        });
      }
      rows.push({ callback_id: id, ...before, seq, received_s: receivedSeconds });
    }
    return rows;
  }

  #end(id: string): Row {
    return { expires_ms: this.callbacks.get(id)?.expiresMs ?? null, now_ms: this.#nowMs() };
  }

  #list(id: string): Row[] {
    const callback = this.callbacks.get(id);
    if (callback === undefined) return [];
    const events = callback.expiresMs > this.#nowMs() ? callback.events : [];
    if (events.length === 0) return [{ ...this.#end(id), ...columnsOf(undefined) }];
    return events.map((event) => ({ ...this.#end(id), ...columnsOf(event) }));
  }

  #find(id: string, eventId: string): EventRow | undefined {
    const callback = this.callbacks.get(id);
    if (callback === undefined || callback.expiresMs <= this.#nowMs()) return undefined;
    return callback.events.find((event) => event.id === eventId);
  }

  #event(id: string, eventId: string): Row[] {
    return this.callbacks.has(id) ? [{ ...this.#end(id), ...columnsOf(this.#find(id, eventId)) }] : [];
  }

  #part([id, eventId, number]: Columns): Row[] {
    if (!this.callbacks.has(id as string)) return [];
    const event = this.#find(id as string, eventId as string);
    const { body: _body, seq: _seq, ...columns } = columnsOf(event);
    const start = (number as number) * EVENT_PART_BYTES;
    const part = event === undefined ? null : event.body.subarray(start, start + EVENT_PART_BYTES);
    return [{ ...this.#end(id as string), ...columns, part }];
  }

  #look([ids, afters]: Columns): Row[] {
    return texts(ids).map((id, i) => {
      const after = texts(afters)[i] as string;
      const callback = this.callbacks.get(id);
      const seq = after === '' ? 0 : (callback?.events.find((event) => event.id === after)?.seq ?? null);
      const next = seq === null ? undefined : callback?.events.find((event) => event.seq === seq + 1);
      return { ...this.#end(id), event_count: callback?.eventCount ?? null, after_seq: seq, ...columnsOf(next) };
    });
  }

  #news([ids, seen]: Columns): Row[] {
    return texts(ids).flatMap((id, i) => {
      const callback = this.callbacks.get(id);
      const isNews =
        callback === undefined ||
        callback.eventCount > (numbers(seen)[i] as number) ||
        callback.expiresMs <= this.#nowMs();
      return isNews ? [{ callback_id: id, ...this.#end(id), event_count: callback?.eventCount ?? null }] : [];
    });
  }

  #delete(id: string): Row[] {
    const callback = this.callbacks.get(id);
    const isLive = callback !== undefined && callback.expiresMs > this.#nowMs();
    // The statement reads what was there at its beginning.
    const row = { count: isLive ? 1 : 0, ...this.#end(id) };
    if (isLive) {
      this.callbacks.delete(id);
      this.claimed--;
    }
    return [row];
  }

  #sweep(processMs: number): Row[] {
    const nowMs = this.#nowMs();
    const bothMs = Math.min(nowMs, processMs);
    let count = 0;
    for (const callback of this.callbacks.values()) {
      if (callback.isOver || callback.expiresMs > bothMs || count >= SWEEP_COUNT_MAX) continue;
      callback.isOver = true;
      callback.events = [];
      count++;
    }
    let lapsed = 0;
    for (const [id, untilMs] of this.claims) {
      if (untilMs > nowMs || lapsed >= SWEEP_COUNT_MAX) continue;
      this.claims.delete(id);
      lapsed++;
    }
    this.claimed -= count + lapsed;
    return [{ count: count + lapsed }];
  }

  #forget(): Row[] {
    const beforeMs = this.#nowMs() - TOMBSTONE_MS;
    for (const { id, isOver, expiresMs } of this.callbacks.values()) {
      if (isOver && expiresMs <= beforeMs) this.callbacks.delete(id);
    }
    return [];
  }

  #forgetRates(): Row[] {
    const beforeMs = this.#nowMs() - RATE_WINDOW_MS;
    for (const [id, { lastMs }] of this.#rates) if (lastMs <= beforeMs) this.#rates.delete(id);
    return [];
  }

  #counts(): Row[] {
    const all = [...this.callbacks.values()];
    return [
      {
        claimed: this.claimed,
        live: all.filter(({ isOver }) => !isOver).length,
        over: all.filter(({ isOver }) => isOver).length,
        unknown: [...this.#rates.keys()].filter((id) => !this.callbacks.has(id)).length,
      },
    ];
  }
}
