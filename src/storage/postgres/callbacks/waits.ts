/**
 * Waits of this process for events that any process stores (decisions §5). They rely on a poll: every {@link POLL_MS}
 * one statement asks for news of all callbacks with a wait here, so an event is answered at most that much later, plus
 * a round trip. For an event that this process stored, or another hints at, the look comes at once.
 *
 * Each wait knows the event after which it looks and ends only once, so several looks may find the same event.
 */
import type { Clock } from '../../../base/clock.ts';
import { Deadlines, TimerEntry } from '../../../base/deadlines.ts';
import type { DisconnectListener } from '../../../base/disconnect-listener.ts';
import type { Timers } from '../../../base/timers.ts';
import {
  type Absent,
  type Client,
  type EventJson,
  EXPIRED,
  NOT_FOUND,
  UNKNOWN_EVENT,
  type Waited,
  type Woken,
} from '../../../callback/callbacks.ts';
import type { InboxEvent } from '../../../callback/event.ts';
import type { CallbackId } from '../../../callback/identifier.ts';
import { inlineJsonOf, wokenBy } from '../../../callback/inbox/reading.ts';
import { WAIT_COUNT_MAX } from '../../../callback/limits.ts';
import { SKEW_MS_MAX } from '../clock-skew.ts';
import type { Database } from '../database.ts';
import { Group } from '../groups.ts';
import { endOf, eventOf } from './rows.ts';
import { LOOK, NEWS } from './statements.ts';

/** From the start of one poll to the start of the next. */
export const POLL_MS = 200;

/** A callback that has waits here. */
interface Watched {
  readonly id: CallbackId;
  readonly waits: Set<Wait>;
  cancelEnd: (() => void) | undefined;
  /** News came while a wait had not finished its first look, so it looks again. */
  hasNews: boolean;
}

/** What a wait's look found. */
type Found =
  | { readonly kind: 'event'; readonly event: InboxEvent }
  | { readonly kind: 'none'; readonly seq: number }
  | { readonly kind: 'unknown-event' }
  | Absent;

class Wait extends TimerEntry implements DisconnectListener {
  readonly watched: Watched;
  /** Id of the event after which it looks; '' = from the beginning. */
  readonly after: string;
  readonly #end: (wait: Wait, how: Woken) => void;
  /** Sequence number of `after`; undefined before the first look. */
  seq: number | undefined;
  isOver = false;
  give: (how: Waited) => void = () => {};

  constructor(watched: Watched, after: string, end: (wait: Wait, how: Woken) => void) {
    super();
    this.watched = watched;
    this.after = after;
    this.#end = end;
  }

  override onDue(): void {
    this.#end(this, { kind: 'timed-out' });
  }

  handleEvent(): void {
    this.#end(this, { kind: 'disconnected' });
  }
}

export interface WaitsPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly database: Database;
  /** The JSON of an event whose body is too long to come with its row. */
  longJson(id: CallbackId, event: InboxEvent): Promise<EventJson | Absent>;
  /** A look for news failed; the next poll looks again. */
  onFailure(failure: unknown): void;
}

interface Question {
  readonly id: CallbackId;
  readonly after: string;
}

export class Waits {
  readonly #ports: WaitsPorts;
  readonly #deadlines: Deadlines;
  readonly #looks: Group<Question, Found>;
  readonly #watched = new Map<CallbackId, Watched>();
  #count = 0;
  #isDraining = false;
  #isPolling = false;
  #cancelPoll: (() => void) | undefined;

  constructor(ports: WaitsPorts) {
    this.#ports = ports;
    this.#deadlines = new Deadlines(ports.clock, ports.timers);
    this.#looks = new Group((questions) => this.#look(questions), { keyOf: ({ id }) => id, takesRepeatedKeys: true });
  }

  get count(): number {
    return this.#count;
  }

  /** @param endsInMs until the callback's end */
  async wait(
    id: CallbackId,
    after: string | null,
    timeoutMs: number,
    endsInMs: number,
    client: Client,
  ): Promise<Waited> {
    if (client.isDisconnected()) return { kind: 'disconnected' };
    const wait = this.#isDraining ? undefined : this.#park(id, after ?? '', timeoutMs, endsInMs, client);
    const ended = wait && new Promise<Waited>((resolve) => (wait.give = resolve));
    let found: Found;
    try {
      found = await this.#looks.add({ id, after: after ?? '' });
    } catch (failure) {
      if (wait !== undefined) this.#remove(wait);
      throw failure;
    }
    if (found.kind !== 'none') {
      if (wait !== undefined) this.#remove(wait);
      return found.kind === 'event' ? this.#woken(id, found.event) : found;
    }
    if (wait === undefined) return this.#isDraining ? { kind: 'timed-out' } : { kind: 'too-many-waits' };
    wait.seq = found.seq;
    if (wait.watched.hasNews) void this.#check([wait.watched]);
    this.#pollLater();
    return ended as Promise<Waited>;
  }

  /** This process stored an event. @param seq its number */
  stored(id: CallbackId, seq: number, event: InboxEvent): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    const json = inlineJsonOf(event);
    for (const wait of [...watched.waits]) {
      if (json !== undefined && wait.seq === seq - 1)
        this.#end(wait, { kind: 'event', eventId: event.id, event: json });
    }
    if (watched.waits.size > 0) void this.#check([watched]);
  }

  /** The callback has ended. */
  ended(id: CallbackId, how: Woken): void {
    const watched = this.#watched.get(id);
    for (const wait of [...(watched?.waits ?? [])]) this.#end(wait, how);
  }

  /** Another process hints that these callbacks have news; null = any may. */
  hinted(ids: readonly CallbackId[] | null): void {
    const watched = ids === null ? [...this.#watched.values()] : ids.flatMap((id) => this.#watched.get(id) ?? []);
    if (watched.length > 0) void this.#check(watched);
  }

  /** Ends every wait, present and future, as timed out. */
  drain(): void {
    this.#isDraining = true;
    for (const { id } of [...this.#watched.values()]) this.ended(id, { kind: 'timed-out' });
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  /** @returns undefined when the callback has as many waits as it may have */
  #park(id: CallbackId, after: string, timeoutMs: number, endsInMs: number, client: Client): Wait | undefined {
    const watched: Watched = this.#watched.get(id) ?? { id, waits: new Set(), cancelEnd: undefined, hasNews: false };
    if (watched.waits.size >= WAIT_COUNT_MAX) return undefined;
    this.#watched.set(id, watched);
    const wait = new Wait(watched, after, (one, how) => this.#end(one, how));
    watched.waits.add(wait);
    this.#count++;
    client.onDisconnect(wait);
    const isEndFirst = endsInMs <= timeoutMs;
    // If our clock is ahead, the callback is still live for the database at that moment.
    this.#deadlines.add(wait, isEndFirst ? timeoutMs + SKEW_MS_MAX : timeoutMs);
    // By our clock the lifetime is over then: the database confirms it, or a later poll finds it.
    if (isEndFirst)
      watched.cancelEnd ??= this.#ports.timers.after(Math.ceil(endsInMs), () => void this.#check([watched]));
    return wait;
  }

  #remove(wait: Wait): boolean {
    const { watched } = wait;
    if (!watched.waits.delete(wait)) return false;
    wait.isOver = true;
    this.#deadlines.remove(wait);
    this.#count--;
    if (watched.waits.size === 0) {
      watched.cancelEnd?.();
      this.#watched.delete(watched.id);
    }
    return true;
  }

  #end(wait: Wait, how: Woken): void {
    if (this.#remove(wait)) wait.give(how);
  }

  #pollLater(): void {
    if (this.#watched.size === 0) return;
    this.#cancelPoll ??= this.#ports.timers.after(POLL_MS, () => {
      this.#cancelPoll = undefined;
      this.#pollLater();
      if (!this.#isPolling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    await this.#check([...this.#watched.values()]);
    this.#isPolling = false;
  }

  /** Ends the waits for which there is news. Never rejects. */
  async #check(watched: readonly Watched[]): Promise<void> {
    const parked = watched.flatMap((one) => {
      const { id, waits } = one;
      const seqs = [...waits].flatMap(({ seq }) => seq ?? []);
      one.hasNews = seqs.length < waits.size;
      return seqs.length === 0 ? [] : [{ id, seen: Math.min(...seqs) }];
    });
    if (parked.length === 0) return;
    const values = [parked.map(({ id }) => id), parked.map(({ seen }) => seen)];
    try {
      const rows = await this.#ports.database.run({ ...NEWS, values });
      await Promise.all(
        rows.map(async (row) => {
          const id = row.callback_id as CallbackId;
          const ended = endOf(row);
          if (ended !== undefined) this.ended(id, ended);
          else await this.#wake(id, row.event_count as number);
        }),
      );
    } catch (failure) {
      if (!this.#isDraining) this.#ports.onFailure(failure);
    }
  }

  /** Ends the waits of a callback that look after an event which is not its last one. */
  async #wake(id: CallbackId, eventCount: number): Promise<void> {
    const behind = [...(this.#watched.get(id)?.waits ?? [])].filter(({ seq }) => seq !== undefined && seq < eventCount);
    for (const after of new Set(behind.map((wait) => wait.after))) {
      const found = await this.#looks.add({ id, after });
      if (found.kind === 'none') continue;
      const woken = await this.#outcomeOf(id, found);
      for (const wait of behind) if (wait.after === after) this.#end(wait, woken);
    }
  }

  async #outcomeOf(id: CallbackId, found: Exclude<Found, { kind: 'none' }>): Promise<Woken> {
    switch (found.kind) {
      case 'event':
        return this.#woken(id, found.event);
      case 'unknown-event': // The event that it waits after is deleted, so the callback was too.
      case 'not-found':
        return NOT_FOUND;
      case 'expired':
        return EXPIRED;
      default:
        return found satisfies never;
    }
  }

  async #woken(id: CallbackId, event: InboxEvent): Promise<Woken> {
    return wokenBy(event, inlineJsonOf(event) ?? (await this.#ports.longJson(id, event)));
  }

  async #look(questions: readonly Question[]): Promise<Found[]> {
    // A query may hold U+0000, which PostgreSQL text cannot. No event id holds it either.
    const afters = questions.map(({ after }) => after.replaceAll('\0', '-'));
    const values = [questions.map(({ id }) => id), afters];
    const rows = await this.#ports.database.run({ ...LOOK, values });
    return rows.map((row): Found => {
      const ended = endOf(row);
      if (ended !== undefined) return ended;
      if (row.after_seq === null) return UNKNOWN_EVENT;
      const event = eventOf(row);
      return event === undefined ? { kind: 'none', seq: row.after_seq as number } : { kind: 'event', event };
    });
  }
}
