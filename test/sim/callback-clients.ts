/**
 * The clients of callbacks: each sold callback is posted to, listed, waited on in chains and deleted, at times that the seed
 * draws, until after its expiry. Every answer is checked (reliability I8 to I11): an acknowledged event stays, in one order,
 * until its callback expires.
 */
import {
  EVENT_COUNT_MAX,
  LIFETIME_MS,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
  TOMBSTONE_MS,
} from '../../src/callback/limits.ts';
import type { Chance } from '../support/chance.ts';
import type { Disk } from './disk.ts';
import { codeOf, type Network } from './network.ts';
import type { Profile } from './profile.ts';
import { type Answer, BASE_URL, type Exchange, type Life, type Server } from './server.ts';
import { BEGIN_WALL_MS, type World } from './world.ts';

interface TrackedCallback {
  readonly id: string;
  readonly token: string;
  /** True time at which it expires when no clock steps. */
  readonly endsMs: number;
  readonly life: Life;
  /** Event ids in the order in which clients have seen them; it only grows. */
  readonly order: string[];
  /** Acknowledged events to the time of the acknowledgement. */
  readonly acked: Map<string, number>;
  /** Event ids to the bodies that were sent. */
  readonly bodies: Map<string, string>;
  postCount: number;
  deleteSentMs: number;
  deletedMs: number;
  /** Posts that count against the rate limit of a server life, oldest first. */
  passes: { life: Life; ms: number; isPassed: boolean }[];
}

interface EventShown {
  readonly id: string;
  readonly received_at: string;
  readonly body: unknown;
  readonly size_bytes: number;
}

export class CallbackClients {
  readonly callbacks: TrackedCallback[] = [];
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #server: Server;
  readonly #network: Network;
  readonly #disk: Disk;
  #markCount = 0;

  constructor(world: World, chance: Chance, profile: Profile, server: Server, network: Network, disk: Disk) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#server = server;
    this.#network = network;
    this.#disk = disk;
  }

  /** A creation was answered: schedules what its clients do, whether or not the buyer received the answer. */
  created(answer: Answer, exchange: Exchange): void {
    const { id, read_token: token, expires_at: expiresAt } = JSON.parse(answer.text) as Record<string, string>;
    const endsMs = Date.parse(expiresAt as string) - BEGIN_WALL_MS - this.#server.skewMs;
    const callback: TrackedCallback = {
      id: id as string,
      token: token as string,
      endsMs,
      life: exchange.life,
      order: [],
      acked: new Map(),
      bodies: new Map(),
      postCount: 0,
      deleteSentMs: Number.POSITIVE_INFINITY,
      deletedMs: Number.POSITIVE_INFINITY,
      passes: [],
    };
    this.callbacks.push(callback);
    this.#world.count('callbacks');
    const chance = this.#chance;
    const spanMs = chance.pick([2_000, 30_000, 500_000]);
    const at = (share: number, run: () => void): void => {
      this.#world.after(share * spanMs, run);
    };
    const posts = chance.pick([1, 3, 9, 14, 45]);
    for (let i = 0; i < posts; i++) at(chance.unit(), () => this.#post(callback));
    for (let i = 0; i < 3; i++) at(chance.unit() * 1.5, () => this.#list(callback));
    if (chance.is(0.7)) at(chance.unit(), () => this.#wait(callback, null, 0));
    if (chance.is(0.2)) at(chance.unit(), () => this.#wait(callback, null, 0));
    if (chance.is(0.2)) at(chance.unit(), () => this.#list(callback, 'svc_cb_sk_wrong'));
    if (chance.is(0.3)) {
      at(chance.unit(), () => this.#delete(callback));
      at(1.2, () => this.#list(callback));
    }
    if (chance.is(0.3)) this.#world.after(LIFETIME_MS + chance.between(-100, 3_000), () => this.#list(callback));
    if (chance.is(0.1)) this.#world.after(LIFETIME_MS + chance.between(0, 4_000_000), () => this.#list(callback));
  }

  /** Lists the events of every callback. */
  listAll(): void {
    for (const callback of this.callbacks) this.#list(callback);
  }

  /** How far steps of the wall clock may have moved an expiry over a restart. */
  #toleranceMs(): number {
    return this.#server.hasSkewed ? 2 * this.#profile.wallSkewMsMax : 10;
  }

  #hasDiskTrouble(): boolean {
    return this.#server.hasStateFault || this.#world.nowMs - this.#server.lastDiskFaultMs < 60_000;
  }

  /** Checks a 404, 410 or 500, by the time at which it was given: a callback may expire during a wait. */
  #judgeAbsence(callback: TrackedCallback, what: string, answer: Answer): void {
    const world = this.#world;
    const { status } = answer;
    const code = codeOf(answer);
    const nowMs = world.nowMs;
    const tolerance = this.#toleranceMs();
    const isDeleted = callback.deleteSentMs <= nowMs;
    if (callback.deletedMs < nowMs) world.met('I8 deleted stays deleted');
    world.met('A4 right answers');
    if (status === 404 && code === 'CALLBACK_NOT_FOUND') {
      if (!isDeleted && nowMs < callback.endsMs + TOMBSTONE_MS - tolerance)
        world.fail('I8 nothing is lost', `${what}: 404`);
      return;
    }
    if (status === 410 && code === 'CALLBACK_EXPIRED') {
      if (nowMs < callback.endsMs - tolerance)
        world.fail('I8 nothing is lost', `${what}: expired ${callback.endsMs - nowMs} ms early`);
      world.met('I8 expiry');
      if (callback.deletedMs < nowMs - 60_000)
        world.fail('I8 deleted stays deleted', `${what}: 410 after its deletion`);
      return;
    }
    if (status === 500 && this.#hasDiskTrouble()) return;
    world.fail('A4 right answers', `${what}: ${status} ${answer.text.slice(0, 200)}`);
  }

  /** Checks that the callback may be live, as the answer says. */
  #judgePresence(callback: TrackedCallback, what: string, exchange: Exchange): void {
    if (callback.deletedMs < exchange.arrivedMs) this.#world.fail('I8 deleted stays deleted', what);
    if (exchange.arrivedMs > callback.endsMs + this.#toleranceMs())
      this.#world.fail('I8 expiry', `${what}: past its end`);
  }

  #post(callback: TrackedCallback): void {
    const chance = this.#chance;
    const mark = ++this.#markCount;
    const kind = chance.below(20);
    const isBad = kind === 0;
    const padding = kind < 4 ? 'x'.repeat(5_000 + chance.below(3_000)) : '';
    const body = isBad ? '{"n":' : `{"n":${mark},"padding":"${padding}"}`;
    const isText = kind === 5;
    const sentMs = this.#world.nowMs;
    let pass: TrackedCallback['passes'][number] | undefined;
    this.#network.send({
      name: `${callback.id.slice(0, 8)} post ${mark}`,
      method: chance.pick(['POST', 'PUT', 'PATCH']),
      url: `${BASE_URL}/hooks/${callback.id}`,
      headers: { 'content-type': isText ? 'text/plain' : 'application/json' },
      body,
      slowMs: chance.is(0.03) ? chance.between(100, 40_000) : undefined,
      mayLeave: true,
      onArrival: ({ life, arrivedMs }) => {
        pass = { life, ms: arrivedMs, isPassed: true };
        callback.postCount++;
        callback.passes.push(pass);
      },
      judge: (answer, exchange) =>
        this.#judgePost(callback, isBad && !isText, isText ? JSON.stringify(body) : body, answer, exchange, sentMs),
    });
  }

  #judgePost(
    callback: TrackedCallback,
    isBad: boolean,
    body: string,
    answer: Answer,
    exchange: Exchange,
    sentMs: number,
  ): void {
    const world = this.#world;
    const what = exchange.name;
    const { status } = answer;
    const code = status < 300 ? '' : codeOf(answer);
    const pass = callback.passes.find(({ life, ms }) => life === exchange.life && ms === exchange.arrivedMs);
    if (status === 200) {
      const { event_id: eventId } = JSON.parse(answer.text) as { event_id: string };
      this.#judgePresence(callback, what, exchange);
      if (isBad) world.fail('A4 right answers', `${what}: stored a body that is not JSON`);
      if (callback.acked.has(eventId)) world.fail('I10 once', `${what}: ${eventId} was given twice`);
      // Events that were acknowledged before this one was sent come before it.
      for (const [other, ackedMs] of callback.acked) {
        const place = callback.order.indexOf(eventId);
        if (place >= 0 && ackedMs < sentMs && callback.order.indexOf(other) > place) world.fail('I10 order', what);
      }
      world.met('I10 once');
      callback.acked.set(eventId, world.nowMs);
      callback.bodies.set(eventId, body);
      if (callback.acked.size > EVENT_COUNT_MAX)
        world.fail('I9 ten events', `${callback.id} took ${callback.acked.size}`);
      world.count('events');
      this.#judgeRate(callback, exchange, what);
      return;
    }
    if (status === 429) {
      if (pass !== undefined) pass.isPassed = false;
      const fromMs = exchange.arrivedMs - RATE_WINDOW_MS - 1;
      const passed = callback.passes.filter(
        ({ life, ms, isPassed }) => isPassed && life === exchange.life && ms > fromMs && ms <= exchange.arrivedMs,
      );
      world.judge('I9 rate', passed.length >= RATE_COUNT_MAX, () => `${what}: refused after ${passed.length} passes`);
      return;
    }
    if (status === 410 && code === 'CALLBACK_EVENT_LIMIT_REACHED') {
      const isFull = callback.postCount >= EVENT_COUNT_MAX;
      world.judge('I9 ten events', isFull, () => `${what}: full after ${callback.postCount} posts`);
      return;
    }
    if (status === 400 && code === 'INVALID_JSON' && isBad) return;
    if (status === 408) return;
    this.#judgeAbsence(callback, what, answer);
  }

  #judgeRate(callback: TrackedCallback, exchange: Exchange, what: string): void {
    const fromMs = exchange.arrivedMs - RATE_WINDOW_MS;
    const answered = callback.passes.filter(
      ({ life, ms, isPassed }) => isPassed && life === exchange.life && ms > fromMs && ms <= exchange.arrivedMs,
    );
    if (answered.length > RATE_COUNT_MAX) {
      this.#world.fail('I9 rate', `${what}: ${answered.length} passed in a minute`);
    }
  }

  /** The listed events must be the known ones, in the known order, followed by new ones. */
  #learn(callback: TrackedCallback, shown: readonly EventShown[], what: string): void {
    const world = this.#world;
    let lastAt = '';
    for (const [place, event] of shown.entries()) {
      const known = callback.order[place];
      if (known !== undefined && known !== event.id) {
        world.fail('I10 order', `${what}: ${event.id} stands where ${known} stood`);
        return;
      }
      if (known === undefined) {
        if (callback.order.includes(event.id)) world.fail('I10 once', `${what}: ${event.id} is shown twice`);
        callback.order.push(event.id);
      }
      const body = callback.bodies.get(event.id);
      const text = typeof event.body === 'string' ? JSON.stringify(event.body) : undefined;
      if (event.body !== undefined && body !== undefined && (text ?? JSON.stringify(event.body)) !== body) {
        world.fail('I8 nothing is lost', `${what}: ${event.id} shows another body`);
      }
      if (event.received_at < lastAt) world.fail('I10 order', `${what}: ${event.received_at} after ${lastAt}`);
      lastAt = event.received_at;
    }
    if (callback.order.length > EVENT_COUNT_MAX)
      world.fail('I9 ten events', `${what}: ${callback.order.length} events`);
  }

  #list(callback: TrackedCallback, token = callback.token): void {
    const sentMs = this.#world.nowMs;
    const world = this.#world;
    this.#network.send({
      name: `${callback.id.slice(0, 8)} list`,
      method: 'GET',
      url: `${BASE_URL}/v1/callbacks/${callback.id}/events`,
      headers: { authorization: `Bearer ${token}` },
      judge: (answer, exchange) => {
        const what = exchange.name;
        if (token !== callback.token) {
          const isRefused = answer.status === 401 || answer.status === 404;
          world.judge('I11 the right token', isRefused, () => `${what}: ${answer.status}`);
          return;
        }
        if (answer.status !== 200) {
          this.#judgeAbsence(callback, what, answer);
          return;
        }
        this.#judgePresence(callback, what, exchange);
        const { events } = JSON.parse(answer.text) as { events: EventShown[] };
        this.#learn(callback, events, what);
        const shown = new Set(events.map(({ id }) => id));
        for (const [id, ackedMs] of callback.acked) {
          if (ackedMs < sentMs) world.judge('I8 nothing is lost', shown.has(id), () => `${what}: ${id} is missing`);
        }
      },
    });
  }

  #wait(callback: TrackedCallback, after: string | null, depth: number): void {
    const world = this.#world;
    const chance = this.#chance;
    const seconds = chance.pick([1, 5, 30]);
    const next = (last: string | null): void => {
      if (depth < 14) world.after(chance.between(0, 50), () => this.#wait(callback, last, depth + 1));
    };
    this.#network.send({
      name: `${callback.id.slice(0, 8)} wait`,
      method: 'GET',
      url: `${BASE_URL}/v1/callbacks/${callback.id}/wait?timeout=${seconds}${after === null ? '' : `&after=${after}`}`,
      headers: { authorization: `Bearer ${callback.token}` },
      mayLeave: true,
      judge: (answer, exchange) => this.#judgeWait(callback, after, seconds, answer, exchange),
      onAnswer: (answer) => {
        if (answer.status !== 200) return;
        const { event } = JSON.parse(answer.text) as { event?: EventShown };
        next(event?.id ?? after);
      },
      onLost: () => next(after),
    });
  }

  #judgeWait(
    callback: TrackedCallback,
    after: string | null,
    seconds: number,
    answer: Answer,
    exchange: Exchange,
  ): void {
    const world = this.#world;
    const what = exchange.name;
    if (answer.status === 429 && codeOf(answer) === 'TOO_MANY_WAITS') return;
    if (answer.status !== 200) {
      this.#judgeAbsence(callback, what, answer);
      return;
    }
    this.#judgePresence(callback, what, exchange);
    const { event } = JSON.parse(answer.text) as { event?: EventShown };
    const place = after === null ? 0 : callback.order.indexOf(after) + 1;
    if (event !== undefined) {
      if ((callback.acked.get(event.id) ?? world.nowMs) > exchange.arrivedMs) world.met('I10 wake-up');
      const shown = callback.order
        .slice(0, place)
        .map((id) => ({ id, received_at: '', body: undefined, size_bytes: 0 }));
      const known = callback.order[place];
      if (known !== undefined) world.met('I10 order');
      if (known !== undefined && known !== event.id)
        world.fail('I10 order', `${what}: ${event.id}, but ${known} comes next`);
      else if (known === undefined) this.#learn(callback, [...shown, { ...event, received_at: '9' }], what);
      return;
    }
    const stayMs = world.nowMs - exchange.arrivedMs;
    const isGone = exchange.request.signal.aborted;
    if (exchange.life.isDraining || isGone) return;
    const isWhole = stayMs >= seconds * 1000 - 2;
    world.judge('I10 waits', isWhole, () => `${what}: timed out after ${stayMs} of ${seconds} s`);
    // A wait whose event could not be read back lasts until its timeout: no later event may overtake that one.
    const { unreadMs } = this.#disk;
    if ([...callback.acked.keys(), ...callback.order].some((id) => (unreadMs.get(id) ?? -1) >= exchange.arrivedMs))
      return;
    const isStored = [...callback.acked].some(([id, ackedMs]) => {
      const at = callback.order.indexOf(id);
      return ackedMs < exchange.arrivedMs && (at < 0 || at >= place);
    });
    const isWoken = [...callback.acked].some(([, ackedMs]) => ackedMs > exchange.arrivedMs && ackedMs < world.nowMs);
    if (isStored && after === null) world.fail('I10 wake-up', `${what}: timed out over a stored event`);
    if (isWoken && after === null) world.fail('I10 wake-up', `${what}: timed out, and an event came meanwhile`);
    if (
      callback.order[place] !== undefined &&
      (callback.acked.get(callback.order[place] as string) ?? Number.POSITIVE_INFINITY) < world.nowMs
    ) {
      world.fail('I10 wake-up', `${what}: timed out, and ${callback.order[place]} was there`);
    }
  }

  #delete(callback: TrackedCallback): void {
    const world = this.#world;
    this.#network.send({
      name: `${callback.id.slice(0, 8)} delete`,
      method: 'DELETE',
      url: `${BASE_URL}/v1/callbacks/${callback.id}`,
      headers: { authorization: `Bearer ${callback.token}` },
      onArrival: () => {
        callback.deleteSentMs = Math.min(callback.deleteSentMs, world.nowMs);
      },
      judge: (answer, exchange) => {
        if (answer.status === 200) {
          callback.deletedMs = Math.min(callback.deletedMs, world.nowMs);
          world.count('deletions');
          return;
        }
        this.#judgeAbsence(callback, exchange.name, answer);
      },
    });
  }
}
