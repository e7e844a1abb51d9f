/**
 * The clients of callbacks at several processes: webhooks come to any of them, waits to any of them, and each acknowledged
 * event stays. A wait must not end without an event that is there, wherever it came in.
 */
import { EVENT_COUNT_MAX, RATE_COUNT_MAX, RATE_WINDOW_MS } from '../../../src/callback/limits.ts';
import type { Chance } from '../../support/chance.ts';
import { type Answer, BASE_URL } from '../server.ts';
import { codeOf } from './customers.ts';
import type { Gate, Outside } from './gate.ts';
import type { EventRow } from './model-callbacks.ts';

/** A wait that ends without an event may have looked this long before. */
const STALE_MS = 3_000;
/**
 * A wait on another process is woken this much after the event at the latest, unless its process had too few connections: the
 * poll and two trips (siblings §9).
 */
const WOKEN_MS = 250;
/** Trouble with the database keeps a process from looking for so long. */
const TROUBLE_MS = 15_000;

interface Tracked {
  readonly id: string;
  readonly token: string;
  /** Ids of acknowledged events. */
  readonly acknowledged: Set<string>;
  readonly bodies: Set<string>;
  postCount: number;
  /** Webhooks that were within the rate: when they came, and when that was answered. */
  readonly passed: { readonly cameMs: number; readonly answeredMs: number }[];
}

interface Shown {
  readonly id: string;
  readonly body: { readonly n: number };
}

export class Callers {
  readonly #outside: Outside;
  readonly #chance: Chance;
  readonly #gates: () => readonly Gate[];
  readonly #callbacks: Tracked[] = [];
  #markCount = 0;

  constructor(outside: Outside, chance: Chance, gates: () => readonly Gate[]) {
    this.#outside = outside;
    this.#chance = chance;
    this.#gates = gates;
  }

  /** A creation was answered. */
  created({ text }: Answer): void {
    const { id, read_token: token } = JSON.parse(text) as { id: string; read_token: string };
    const one: Tracked = { id, token, acknowledged: new Set(), bodies: new Set(), postCount: 0, passed: [] };
    this.#callbacks.push(one);
    const chance = this.#chance;
    const { world } = this.#outside;
    const spanMs = chance.pick([500, 5_000, 40_000]);
    const postCount = chance.pick([1, 3, 9, 14, 28, 45]);
    for (let i = 0; i < postCount; i++) world.after(chance.unit() * spanMs, () => this.#post(one));
    for (let i = chance.below(3); i >= 0; i--) world.after(chance.unit() * spanMs, () => this.#wait(one, null, 0));
  }

  /** Each acknowledged event is listed, each listed one was sent, and there are ten at most. */
  listAll(): void {
    for (const one of this.#callbacks) this.#list(one);
  }

  #send(what: string, path: string, init: RequestInit, judge: (answer: Answer, gate: Gate) => void): void {
    const gates = this.#gates().filter(({ isAccepting }) => isAccepting);
    if (gates.length === 0) return;
    const gate = this.#chance.pick(gates);
    gate.arrive(
      what,
      new Request(`${BASE_URL}${path}`, init),
      (answer) => judge(answer, gate),
      () => {},
    );
  }

  #post(one: Tracked): void {
    const { world } = this.#outside;
    const n = ++this.#markCount;
    const body = JSON.stringify({ n, padding: 'x'.repeat(this.#chance.is(0.05) ? 5_000 : 1) });
    one.bodies.add(String(n));
    one.postCount++;
    const what = `${one.id.slice(0, 8)} post ${n}`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const cameMs = world.nowMs;
    const wasFull = this.#stored(one).length === EVENT_COUNT_MAX;
    this.#send(what, `/hooks/${one.id}`, init, (answer, gate) => {
      const { status } = answer;
      if (wasFull) world.met('I9 ten events');
      if (status === 200 || status === 410) this.#judgeRate(one, cameMs);
      if (status === 200) {
        one.acknowledged.add((JSON.parse(answer.text) as { event_id: string }).event_id);
        world.count('events');
        if (one.acknowledged.size > EVENT_COUNT_MAX)
          world.fail('I9 ten events', `${one.id} took ${one.acknowledged.size}`);
        return;
      }
      const stored = this.#stored(one).length;
      if (status === 410) {
        if (stored !== EVENT_COUNT_MAX) world.fail('I9 ten events', `${what} at ${gate.name}: full with ${stored}`);
      } else if (status === 429) {
        // A repeat after a lost answer takes two passes.
        const isExact = !this.#gates().some((any) => this.#isTroubled(any, RATE_WINDOW_MS));
        if (isExact) world.judge('I9 rate', one.postCount > RATE_COUNT_MAX, () => `${what}: after ${one.postCount}`);
      } else if (status === 404 || !this.#isTroubled(gate)) {
        world.fail('A4 right answers', `${what} at ${gate.name}: ${status} ${answer.text}`);
      }
    });
  }

  /** No more are within the rate in a minute, whatever is lost on the way to the database. */
  #judgeRate({ id, passed }: Tracked, cameMs: number): void {
    const { world } = this.#outside;
    passed.push({ cameMs, answeredMs: world.nowMs });
    const fromMs = world.nowMs - RATE_WINDOW_MS;
    const count = passed.filter((one) => one.cameMs > fromMs).length;
    if (count >= RATE_COUNT_MAX)
      world.judge('I9 no more in a minute', count <= RATE_COUNT_MAX, () => `${id}: ${count} in a minute`);
  }

  #stored({ id }: Tracked): readonly EventRow[] {
    return this.#outside.wire.database.callbacks.callbacks.get(id)?.events ?? [];
  }

  #isTroubled({ troubleMs, isDraining, hasFault }: Gate, forMs = TROUBLE_MS): boolean {
    return isDraining || hasFault || this.#outside.world.nowMs - troubleMs < forMs;
  }

  #wait(one: Tracked, after: string | null, depth: number): void {
    const { world } = this.#outside;
    const seconds = this.#chance.pick([5, 10, 20]);
    const beganMs = world.nowMs;
    const next = (last: string | null): void => {
      if (depth < 11) world.after(this.#chance.between(0, 300), () => this.#wait(one, last, depth + 1));
    };
    const path = `/v1/callbacks/${one.id}/wait?timeout=${seconds}${after === null ? '' : `&after=${after}`}`;
    const init = { headers: { authorization: `Bearer ${one.token}` } };
    this.#send(`${one.id.slice(0, 8)} wait`, path, init, (answer, gate) => {
      if (answer.status !== 200) {
        const isMany = answer.status === 429 && codeOf(answer) === 'TOO_MANY_WAITS';
        if (!isMany && !this.#isTroubled(gate))
          world.fail('A4 right answers', `a wait: ${answer.status} ${answer.text}`);
        return next(after);
      }
      const { event } = JSON.parse(answer.text) as { event?: Shown };
      this.#judgeWait(one, after, event, beganMs, gate);
      next(event?.id ?? after);
    });
  }

  #judgeWait(one: Tracked, after: string | null, event: Shown | undefined, beganMs: number, gate: Gate): void {
    const { world } = this.#outside;
    const stored = this.#stored(one);
    const place = after === null ? 0 : stored.findIndex(({ id }) => id === after) + 1;
    const there = stored[place];
    if (there === undefined) return;
    if (event !== undefined) {
      const detail = (): string => `a wait of ${one.id} after ${after}: ${event.id}, but ${there.id} comes next`;
      world.judge('I10 order', event.id === there.id, detail);
    }
    const isExcused = this.#isTroubled(gate) || gate.stalledUntilMs > world.nowMs - TROUBLE_MS;
    if (!isExcused) world.met('W1 no wake-up is lost');
    const sinceMs = world.wallMs - Math.max(there.atMs, world.wallMs - (world.nowMs - beganMs));
    if (event === undefined) {
      if (sinceMs > STALE_MS && !isExcused) {
        world.fail(
          'W1 no wake-up is lost',
          `a wait at ${gate.name} ended without ${there.id}, there for ${sinceMs} ms`,
        );
      }
      return;
    }
    world.count('waits that found an event');
    if (isExcused || gate.crowdedMs >= beganMs) return;
    const cameMeanwhile = there.atMs > world.wallMs - (world.nowMs - beganMs);
    if (cameMeanwhile) world.met('W2 woken by the poll');
    if (sinceMs > WOKEN_MS)
      world.fail('W2 woken by the poll', `a wait at ${gate.name} was woken ${sinceMs.toFixed(0)} ms after ${there.id}`);
  }

  #list(one: Tracked): void {
    const { world } = this.#outside;
    const init = { headers: { authorization: `Bearer ${one.token}` } };
    const path = `/v1/callbacks/${one.id}/events`;
    // A webhook that is under way meanwhile may come after the list was read.
    const acknowledged = [...one.acknowledged];
    this.#send(`${one.id.slice(0, 8)} list`, path, init, (answer, gate) => {
      const code = answer.status === 200 ? '' : codeOf(answer);
      if (code === 'CALLBACK_EXPIRED') return;
      if (answer.status !== 200)
        return world.fail('I8 nothing is lost', `${one.id} at ${gate.name}: ${answer.status} ${code}`);
      const { events } = JSON.parse(answer.text) as { events: Shown[] };
      const shown = new Set(events.map(({ id }) => id));
      for (const id of acknowledged)
        world.judge('I8 nothing is lost', shown.has(id), () => `${one.id} at ${gate.name} has not ${id}`);
      const marks = new Set(events.map(({ body }) => String(body.n)));
      const isSent = [...marks].every((mark) => one.bodies.has(mark));
      const isRight = marks.size === events.length && isSent && events.length <= EVENT_COUNT_MAX;
      const detail = (): string => `${one.id} at ${gate.name} shows ${events.length} events of ${marks.size} webhooks`;
      if (events.length > 1) world.met('I10 once');
      if (!isRight) world.fail('I10 once', detail());
    });
  }
}
