/**
 * Those who buy callbacks and those who post to them: events, waits in chains, reads, deletions, expiry; and the judgement of
 * every answer (reliability I8 to I11): what was acknowledged stays, in one order, until its time is over.
 */
import {
  EVENT_COUNT_MAX,
  LIFETIME_MS,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
  TOMBSTONE_MS,
} from '../../src/callback/limits.ts';
import type { Chance } from './chance.ts';
import type { Disk } from './disk.ts';
import { codeOf, type Network } from './network.ts';
import type { Profile } from './profile.ts';
import { type Answer, BASE_URL, type Exchange, type Life, type Server } from './server.ts';
import type { World } from './world.ts';

const BEGIN_MS = Date.UTC(2026, 10, 21, 12);

interface Box {
  readonly id: string;
  readonly token: string;
  /** True time at which it ends, if no clock steps. */
  readonly endsMs: number;
  readonly life: Life;
  /** Event ids in the order in which readers have seen them; it only grows. */
  readonly order: string[];
  /** Acknowledged events, with when. */
  readonly acked: Map<string, number>;
  /** What was sent as which event. */
  readonly bodies: Map<string, string>;
  postCount: number;
  deleteSentMs: number;
  deletedMs: number;
  /** Posts of the life that counts them, oldest first. */
  passes: { life: Life; ms: number; isPassed: boolean }[];
}

interface EventShown {
  readonly id: string;
  readonly received_at: string;
  readonly body: unknown;
  readonly size_bytes: number;
}

export class CallbackUsers {
  readonly boxes: Box[] = [];
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

  /** A creation was answered; its owner has it, or has lost it. */
  created(answer: Answer, exchange: Exchange): void {
    const { id, read_token: token, expires_at: expiresAt } = JSON.parse(answer.text) as Record<string, string>;
    const endsMs = Date.parse(expiresAt as string) - BEGIN_MS - this.#server.skewMs;
    const box: Box = {
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
    this.boxes.push(box);
    this.#world.count('callbacks');
    const chance = this.#chance;
    const spanMs = chance.pick([2_000, 30_000, 500_000]);
    const at = (share: number, run: () => void): void => {
      this.#world.after(share * spanMs, run);
    };
    const posts = chance.pick([1, 3, 9, 14, 45]);
    for (let i = 0; i < posts; i++) at(chance.unit(), () => this.#post(box));
    for (let i = 0; i < 3; i++) at(chance.unit() * 1.5, () => this.#list(box));
    if (chance.is(0.7)) at(chance.unit(), () => this.#wait(box, null, 0));
    if (chance.is(0.2)) at(chance.unit(), () => this.#wait(box, null, 0));
    if (chance.is(0.2)) at(chance.unit(), () => this.#list(box, 'svc_cb_sk_wrong'));
    if (chance.is(0.3)) {
      at(chance.unit(), () => this.#delete(box));
      at(1.2, () => this.#list(box));
    }
    if (chance.is(0.3)) this.#world.after(LIFETIME_MS + chance.between(-100, 3_000), () => this.#list(box));
    if (chance.is(0.1)) this.#world.after(LIFETIME_MS + chance.between(0, 4_000_000), () => this.#list(box));
  }

  /** Lists every callback that should be there. */
  listAll(): void {
    for (const box of this.boxes) this.#list(box);
  }

  /** How far steps of the wall clock may have moved an end over a restart. */
  #toleranceMs(): number {
    return this.#server.hasSkewed ? 2 * this.#profile.wallSkewMsMax : 10;
  }

  #hasDiskTrouble(): boolean {
    return this.#server.hasStateFault || this.#world.nowMs - this.#server.lastDiskFaultMs < 60_000;
  }

  /** What a 404, 410 or 500 says must be so. Answers are judged by when they were given: a wait may meet the end. */
  #judgeAbsence(box: Box, what: string, answer: Answer): void {
    const world = this.#world;
    const { status } = answer;
    const code = codeOf(answer);
    const nowMs = world.nowMs;
    const tolerance = this.#toleranceMs();
    const isDeleted = box.deleteSentMs <= nowMs;
    if (status === 404 && code === 'CALLBACK_NOT_FOUND') {
      if (!isDeleted && nowMs < box.endsMs + TOMBSTONE_MS - tolerance) world.fail('I8 nothing is lost', `${what}: 404`);
      return;
    }
    if (status === 410 && code === 'CALLBACK_EXPIRED') {
      if (nowMs < box.endsMs - tolerance)
        world.fail('I8 nothing is lost', `${what}: expired ${box.endsMs - nowMs} ms early`);
      if (box.deletedMs < nowMs - 60_000) world.fail('I8 deleted stays deleted', `${what}: 410 after its deletion`);
      return;
    }
    if (status === 500 && this.#hasDiskTrouble()) return;
    world.fail('A4 right answers', `${what}: ${status} ${answer.text.slice(0, 200)}`);
  }

  /** What only a live callback says. */
  #judgePresence(box: Box, what: string, exchange: Exchange): void {
    if (box.deletedMs < exchange.arrivedMs) this.#world.fail('I8 deleted stays deleted', what);
    if (exchange.arrivedMs > box.endsMs + this.#toleranceMs()) this.#world.fail('I8 expiry', `${what}: past its end`);
  }

  #post(box: Box): void {
    const chance = this.#chance;
    const mark = ++this.#markCount;
    const kind = chance.below(20);
    const isBad = kind === 0;
    const padding = kind < 4 ? 'x'.repeat(5_000 + chance.below(3_000)) : '';
    const body = isBad ? '{"n":' : `{"n":${mark},"padding":"${padding}"}`;
    const isText = kind === 5;
    const sentMs = this.#world.nowMs;
    let pass: Box['passes'][number] | undefined;
    this.#network.send({
      name: `${box.id.slice(0, 8)} post ${mark}`,
      method: chance.pick(['POST', 'PUT', 'PATCH']),
      url: `${BASE_URL}/hooks/${box.id}`,
      headers: { 'content-type': isText ? 'text/plain' : 'application/json' },
      body,
      slowMs: chance.is(0.03) ? chance.between(100, 40_000) : undefined,
      mayLeave: true,
      onArrival: ({ life, arrivedMs }) => {
        pass = { life, ms: arrivedMs, isPassed: true };
        box.postCount++;
        box.passes.push(pass);
      },
      judge: (answer, exchange) =>
        this.#judgePost(box, isBad && !isText, isText ? JSON.stringify(body) : body, answer, exchange, sentMs),
    });
  }

  #judgePost(box: Box, isBad: boolean, body: string, answer: Answer, exchange: Exchange, sentMs: number): void {
    const world = this.#world;
    const what = exchange.name;
    const { status } = answer;
    const code = status < 300 ? '' : codeOf(answer);
    const pass = box.passes.find(({ life, ms }) => life === exchange.life && ms === exchange.arrivedMs);
    if (status === 200) {
      const { event_id: eventId } = JSON.parse(answer.text) as { event_id: string };
      this.#judgePresence(box, what, exchange);
      if (isBad) world.fail('A4 right answers', `${what}: stored what is no JSON`);
      if (box.acked.has(eventId)) world.fail('I10 once', `${what}: ${eventId} was given twice`);
      // Whatever was acknowledged before this one was sent comes before it.
      for (const [other, ackedMs] of box.acked) {
        const place = box.order.indexOf(eventId);
        if (place >= 0 && ackedMs < sentMs && box.order.indexOf(other) > place) world.fail('I10 order', what);
      }
      box.acked.set(eventId, world.nowMs);
      box.bodies.set(eventId, body);
      if (box.acked.size > EVENT_COUNT_MAX) world.fail('I9 ten events', `${box.id} took ${box.acked.size}`);
      world.count('events');
      this.#judgeRate(box, exchange, what);
      return;
    }
    if (status === 429) {
      if (pass !== undefined) pass.isPassed = false;
      const fromMs = exchange.arrivedMs - RATE_WINDOW_MS - 1;
      const passed = box.passes.filter(
        ({ life, ms, isPassed }) => isPassed && life === exchange.life && ms > fromMs && ms <= exchange.arrivedMs,
      );
      if (passed.length < RATE_COUNT_MAX) world.fail('I9 rate', `${what}: refused after ${passed.length} passes`);
      return;
    }
    if (status === 410 && code === 'CALLBACK_EVENT_LIMIT_REACHED') {
      if (box.postCount < EVENT_COUNT_MAX) world.fail('I9 ten events', `${what}: full after ${box.postCount} posts`);
      return;
    }
    if (status === 400 && code === 'INVALID_JSON' && isBad) return;
    if (status === 408) return;
    this.#judgeAbsence(box, what, answer);
  }

  #judgeRate(box: Box, exchange: Exchange, what: string): void {
    const fromMs = exchange.arrivedMs - RATE_WINDOW_MS;
    const answered = box.passes.filter(
      ({ life, ms, isPassed }) => isPassed && life === exchange.life && ms > fromMs && ms <= exchange.arrivedMs,
    );
    if (answered.length > RATE_COUNT_MAX) {
      this.#world.fail('I9 rate', `${what}: ${answered.length} passed in a minute`);
    }
  }

  /** Events as shown must be the known ones, in the known order, and then new ones. */
  #learn(box: Box, shown: readonly EventShown[], what: string): void {
    const world = this.#world;
    let lastAt = '';
    for (const [place, event] of shown.entries()) {
      const known = box.order[place];
      if (known !== undefined && known !== event.id) {
        world.fail('I10 order', `${what}: ${event.id} stands where ${known} stood`);
        return;
      }
      if (known === undefined) {
        if (box.order.includes(event.id)) world.fail('I10 once', `${what}: ${event.id} is shown twice`);
        box.order.push(event.id);
      }
      const body = box.bodies.get(event.id);
      const text = typeof event.body === 'string' ? JSON.stringify(event.body) : undefined;
      if (event.body !== undefined && body !== undefined && (text ?? JSON.stringify(event.body)) !== body) {
        world.fail('I8 nothing is lost', `${what}: ${event.id} shows another body`);
      }
      if (event.received_at < lastAt) world.fail('I10 order', `${what}: ${event.received_at} after ${lastAt}`);
      lastAt = event.received_at;
    }
    if (box.order.length > EVENT_COUNT_MAX) world.fail('I9 ten events', `${what}: ${box.order.length} events`);
  }

  #list(box: Box, token = box.token): void {
    const sentMs = this.#world.nowMs;
    const world = this.#world;
    this.#network.send({
      name: `${box.id.slice(0, 8)} list`,
      method: 'GET',
      url: `${BASE_URL}/v1/callbacks/${box.id}/events`,
      headers: { authorization: `Bearer ${token}` },
      judge: (answer, exchange) => {
        const what = exchange.name;
        if (token !== box.token) {
          if (answer.status !== 401 && answer.status !== 404)
            world.fail('I11 the right token', `${what}: ${answer.status}`);
          return;
        }
        if (answer.status !== 200) {
          this.#judgeAbsence(box, what, answer);
          return;
        }
        this.#judgePresence(box, what, exchange);
        const { events } = JSON.parse(answer.text) as { events: EventShown[] };
        this.#learn(box, events, what);
        const shown = new Set(events.map(({ id }) => id));
        for (const [id, ackedMs] of box.acked) {
          if (ackedMs < sentMs && !shown.has(id)) world.fail('I8 nothing is lost', `${what}: ${id} is missing`);
        }
      },
    });
  }

  #wait(box: Box, after: string | null, depth: number): void {
    const world = this.#world;
    const chance = this.#chance;
    const seconds = chance.pick([1, 5, 30]);
    const next = (last: string | null): void => {
      if (depth < 14) world.after(chance.between(0, 50), () => this.#wait(box, last, depth + 1));
    };
    this.#network.send({
      name: `${box.id.slice(0, 8)} wait`,
      method: 'GET',
      url: `${BASE_URL}/v1/callbacks/${box.id}/wait?timeout=${seconds}${after === null ? '' : `&after=${after}`}`,
      headers: { authorization: `Bearer ${box.token}` },
      mayLeave: true,
      judge: (answer, exchange) => this.#judgeWait(box, after, seconds, answer, exchange),
      onAnswer: (answer) => {
        if (answer.status !== 200) return;
        const { event } = JSON.parse(answer.text) as { event?: EventShown };
        next(event?.id ?? after);
      },
      onLost: () => next(after),
    });
  }

  #judgeWait(box: Box, after: string | null, seconds: number, answer: Answer, exchange: Exchange): void {
    const world = this.#world;
    const what = exchange.name;
    if (answer.status === 429 && codeOf(answer) === 'TOO_MANY_WAITS') return;
    if (answer.status !== 200) {
      this.#judgeAbsence(box, what, answer);
      return;
    }
    this.#judgePresence(box, what, exchange);
    const { event } = JSON.parse(answer.text) as { event?: EventShown };
    const place = after === null ? 0 : box.order.indexOf(after) + 1;
    if (event !== undefined) {
      const shown = box.order.slice(0, place).map((id) => ({ id, received_at: '', body: undefined, size_bytes: 0 }));
      const known = box.order[place];
      if (known !== undefined && known !== event.id)
        world.fail('I10 order', `${what}: ${event.id}, but ${known} comes next`);
      else if (known === undefined) this.#learn(box, [...shown, { ...event, received_at: '9' }], what);
      return;
    }
    const stayMs = world.nowMs - exchange.arrivedMs;
    const isGone = exchange.request.signal.aborted;
    if (exchange.life.isDraining || isGone) return;
    if (stayMs < seconds * 1000 - 2) world.fail('I10 waits', `${what}: timed out after ${stayMs} of ${seconds} s`);
    // Who was waiting for an event that could not be read back waits on by the clock: nothing later may come before it.
    const { unreadMs } = this.#disk;
    if ([...box.acked.keys(), ...box.order].some((id) => (unreadMs.get(id) ?? -1) >= exchange.arrivedMs)) return;
    const isStored = [...box.acked].some(([id, ackedMs]) => {
      const at = box.order.indexOf(id);
      return ackedMs < exchange.arrivedMs && (at < 0 || at >= place);
    });
    const isWoken = [...box.acked].some(([, ackedMs]) => ackedMs > exchange.arrivedMs && ackedMs < world.nowMs);
    if (isStored && after === null) world.fail('I10 wake-up', `${what}: timed out over a stored event`);
    if (isWoken && after === null) world.fail('I10 wake-up', `${what}: timed out, and an event came meanwhile`);
    if (
      box.order[place] !== undefined &&
      (box.acked.get(box.order[place] as string) ?? Number.POSITIVE_INFINITY) < world.nowMs
    ) {
      world.fail('I10 wake-up', `${what}: timed out, and ${box.order[place]} was there`);
    }
  }

  #delete(box: Box): void {
    const world = this.#world;
    this.#network.send({
      name: `${box.id.slice(0, 8)} delete`,
      method: 'DELETE',
      url: `${BASE_URL}/v1/callbacks/${box.id}`,
      headers: { authorization: `Bearer ${box.token}` },
      onArrival: () => {
        box.deleteSentMs = Math.min(box.deleteSentMs, world.nowMs);
      },
      judge: (answer, exchange) => {
        if (answer.status === 200) {
          box.deletedMs = Math.min(box.deletedMs, world.nowMs);
          world.count('deletions');
          return;
        }
        this.#judgeAbsence(box, exchange.name, answer);
      },
    });
  }
}
