/**
 * The honest customer, from addresses of its own: asks for the price and buys; buys a callback, is sent a webhook, waits for
 * it, reads it and deletes it. Sends at a given rate whatever the server does, and counts every request that it did not get
 * what it asked for.
 */
import { ask, nameOf, type Question } from './ask.ts';
import { Repeated, type Target } from './attack.ts';
import { bearer, type Callback, CREATION, Purse, SEARCH } from './purse.ts';

export const KINDS = ['offer', 'purchase', 'creation', 'webhook', 'wait', 'read', 'deletion'] as const;
export type Kind = (typeof KINDS)[number];

export interface HonestFigures {
  /** Times of the answers as expected, milliseconds, ascending. */
  readonly tookMs: Readonly<Record<Kind, readonly number[]>>;
  /** What came instead of what was expected, with counts: `webhook lost TIMEOUT`. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Of ascending times; 0 without any. @param share 0.9: the time that nine of ten do not exceed */
export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? 0;

export const allTimes = ({ tookMs }: HonestFigures): number[] =>
  KINDS.flatMap((kind) => tookMs[kind]).sort((a, b) => a - b);

export const failureCount = ({ failures }: Pick<HonestFigures, 'failures'>): number =>
  Object.values(failures).reduce((sum, count) => sum + count, 0);

export interface CustomerOptions {
  /** Each asks for the price, and pays. */
  readonly purchasesPerSecond: number;
  /** Callbacks from their creation to their deletion. */
  readonly callbacksPerSecond: number;
}

/** An address makes so many purchases a second: two requests each, below the 600 a minute of `RATE_LIMIT_PER_MINUTE`. */
const PURCHASES_PER_ADDRESS = 4;
/** A webhook of the usual size, 1 KB. */
const WEBHOOK = JSON.stringify({ event: 'invoice.paid', note: 'x'.repeat(900) });

const emptyTimes = (): Record<Kind, number[]> =>
  Object.fromEntries(KINDS.map((kind) => [kind, [] as number[]])) as Record<Kind, number[]>;

export class Customer {
  readonly #target: Target;
  readonly #options: CustomerOptions;
  readonly #purse: Purse;
  readonly #loop = new Repeated();
  readonly #addresses: readonly string[];
  readonly #underWay = new Set<Promise<void>>();
  #tookMs = emptyTimes();
  #failures: Record<string, number> = {};

  constructor(target: Target, options: CustomerOptions) {
    this.#target = target;
    this.#options = options;
    this.#purse = new Purse(target, '127.0.0.1');
    const addressCount = Math.ceil(options.purchasesPerSecond / PURCHASES_PER_ADDRESS);
    this.#addresses = Array.from({ length: addressCount }, (_, i) => `127.0.${1 + (i >> 8)}.${1 + (i & 127)}`);
  }

  /** Learns the prices and begins. */
  async start(): Promise<void> {
    await this.#purse.sign(SEARCH);
    await this.#purse.sign(CREATION);
    const { purchasesPerSecond, callbacksPerSecond } = this.#options;
    if (purchasesPerSecond > 0) {
      this.#loop.perSecond(purchasesPerSecond, (index) => this.#track(this.#buy(this.#addressAt(index))));
    }
    if (callbacksPerSecond > 0) this.#loop.perSecond(callbacksPerSecond, () => this.#track(this.#useCallback()));
  }

  /** Resolves when the last request has its answer. */
  async stop(): Promise<void> {
    this.#loop.stop();
    await Promise.all(this.#underWay);
  }

  /** What was answered since the last call. */
  take(): HonestFigures {
    const tookMs = this.#tookMs;
    const failures = this.#failures;
    this.#tookMs = emptyTimes();
    this.#failures = {};
    for (const kind of KINDS) tookMs[kind].sort((a, b) => a - b);
    return { tookMs, failures };
  }

  #addressAt(index: number): string {
    return this.#addresses[index % this.#addresses.length]!;
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.then(
      () => {},
      (failure: unknown) => this.#fail(`cannot go on: ${String(failure)}`),
    );
    this.#underWay.add(tracked);
    void tracked.then(() => this.#underWay.delete(tracked));
  }

  #fail(name: string): void {
    this.#failures[name] = (this.#failures[name] ?? 0) + 1;
  }

  /** The text of the expected answer; undefined, and counted, for any other. */
  async #expect(kind: Kind, status: number, question: Question): Promise<string | undefined> {
    const reply = await ask(this.#target, question);
    if (reply.status === status) {
      this.#tookMs[kind].push(reply.tookMs);
      return reply.text;
    }
    this.#fail(`${kind} ${nameOf(reply)}`);
    return undefined;
  }

  async #buy(from: string): Promise<void> {
    const offer = await this.#expect('offer', 402, { ...SEARCH, from });
    if (offer === undefined) return;
    const headers = { 'payment-signature': await this.#purse.sign(SEARCH) };
    await this.#expect('purchase', 200, { ...SEARCH, from, headers });
  }

  async #useCallback(): Promise<void> {
    const from = '127.0.0.1';
    const headers = { 'payment-signature': await this.#purse.sign(CREATION) };
    const created = await this.#expect('creation', 201, { ...CREATION, from, headers });
    if (created === undefined) return;
    const callback = JSON.parse(created) as Callback;
    const path = `/v1/callbacks/${callback.id}`;
    const sender = {
      method: 'POST',
      from: '127.0.0.2',
      headers: { 'content-type': 'application/json' },
      body: WEBHOOK,
    };
    const stored = await this.#expect('webhook', 200, { ...sender, path: `/hooks/${callback.id}` });
    if (stored !== undefined) {
      const { event_id } = JSON.parse(stored) as { event_id: string };
      for (const [kind, suffix] of [
        ['wait', '/wait?timeout=5'],
        ['read', '/events'],
      ] as const) {
        const text = await this.#expect(kind, 200, { path: path + suffix, from, headers: bearer(callback) });
        if (text !== undefined && !text.includes(event_id)) this.#fail(`${kind} without the event`);
      }
    }
    await this.#expect('deletion', 200, { method: 'DELETE', path, from, headers: bearer(callback) });
  }
}

/** Payments that a measurement signs before it begins, so that signing takes nothing from it. */
const SIGNED_COUNT = 3000;
const WARM_UP_COUNT = 200;
/** An address buys so little that no rate is in the way. */
const PURCHASES_PER_MEASURED_ADDRESS = 60;

/**
 * Purchases a second that the server makes when as many as these are always under way: its capacity, as one client sees it.
 * @throws Error when a purchase fails
 */
export async function measuredCapacity(target: Target, inFlight: number): Promise<number> {
  const purse = new Purse(target, '127.0.0.1');
  const signed: string[] = [];
  for (let i = 0; i < WARM_UP_COUNT + SIGNED_COUNT; i++) signed.push(await purse.sign(SEARCH));
  let index = 0;
  const buyUntil = async (end: number): Promise<void> => {
    while (index < end) {
      const address = Math.floor(index / PURCHASES_PER_MEASURED_ADDRESS);
      const from = `127.10.${address >> 7}.${1 + (address & 127)}`;
      const reply = await ask(target, { ...SEARCH, from, headers: { 'payment-signature': signed[index++]! } });
      if (reply.status !== 200) throw new Error(`a purchase without an attack is ${nameOf(reply)}`);
    }
  };
  const buyAll = (end: number): Promise<unknown> => Promise.all(Array.from({ length: inFlight }, () => buyUntil(end)));
  await buyAll(WARM_UP_COUNT);
  const startMs = performance.now();
  await buyAll(WARM_UP_COUNT + SIGNED_COUNT);
  return (SIGNED_COUNT * 1000) / (performance.now() - startMs);
}
