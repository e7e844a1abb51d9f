/** Attacks 3, 4 and 5: payments and creations that cost their sender nothing. */
import { ask, nameOf } from './ask.ts';
import {
  type Attack,
  attackerAt,
  BEGUN,
  BUYER,
  Counts,
  type Figures,
  MOST_IN_FLIGHT,
  Repeated,
  type Target,
} from './attack.ts';
import { type ContractFate, CREATION, contractSigned, forged, type Operation, Purse, SEARCH } from './purse.ts';

/** What an attacker has under way at most: more than the server has slots for. */
const IN_FLIGHT_MAX = 2000;
/** Of a flood that is judged by its answers: what it has begun is answered but for a few. */
const ANSWERED_IN_FLIGHT_MAX = 64;
const TIMEOUT_MS = 30_000;

abstract class Flood implements Attack {
  protected readonly counts = new Counts();
  readonly #loop = new Repeated();
  readonly #rate: number;
  #inFlight = 0;

  /** @param intensity requests a second, of all attackers together */
  constructor(intensity: number) {
    this.#rate = intensity;
  }

  async start(target: Target): Promise<void> {
    await this.prepare(target);
    this.#loop.perSecond(this.#rate / this.burst, (index) => {
      for (let i = 0; i < this.burst; i++) this.#begin(target, index * this.burst + i);
    });
  }

  #begin(target: Target, index: number): void {
    if (this.#inFlight >= this.inFlightMax) return;
    this.#inFlight++;
    this.counts.add(BEGUN);
    this.counts.peak(MOST_IN_FLIGHT, this.#inFlight);
    void this.#send(target, index).finally(() => this.#inFlight--);
  }

  async #send(target: Target, index: number): Promise<void> {
    const from = this.from(index);
    let payment: string | undefined;
    try {
      payment = await this.payment(index);
    } catch {
      this.counts.add('no offer');
      return;
    }
    const headers = payment === undefined ? {} : { 'payment-signature': payment };
    const reply = await ask(target, { ...this.operation(index), from, headers, timeoutMs: TIMEOUT_MS });
    this.counts.add(nameOf(reply));
    if (reply.status === 429 && reply.headers['retry-after'] === undefined) this.counts.add('429 without Retry-After');
  }

  /** Requests that go out in one moment. */
  protected readonly burst: number = 1;
  protected readonly inFlightMax: number = IN_FLIGHT_MAX;

  protected async prepare(_target: Target): Promise<void> {}

  protected from(index: number): string {
    return attackerAt(index);
  }

  protected abstract operation(index: number): Operation;
  protected abstract payment(index: number): Promise<string | undefined>;

  stop(): void {
    this.#loop.stop();
  }

  get figures(): Figures {
    return this.counts.figures;
  }
}

/** Attack 3: creations signed by wallets without money; each holds a slot for as long as the facilitator thinks about it. */
export class EmptyWallet extends Flood {
  #purse: Purse | undefined;

  protected override async prepare(target: Target): Promise<void> {
    this.#purse = new Purse(target, BUYER, true);
    await this.#purse.sign(CREATION);
  }

  protected operation(): Operation {
    return CREATION;
  }

  protected payment(): Promise<string> {
    return this.#purse!.sign(CREATION); // from `prepare` on
  }
}

/** Attack 3, unpaid: creations without a payment, without end, from one address. */
export class UnpaidCreations extends Flood {
  protected override readonly inFlightMax = ANSWERED_IN_FLIGHT_MAX;

  protected operation(): Operation {
    return CREATION;
  }

  protected async payment(): Promise<undefined> {}

  protected override from(): string {
    return attackerAt(0);
  }
}

/** Attack 4: creations whose signature belongs to another authorization. */
export class ForgedCreations extends Flood {
  #payment = '';

  protected override async prepare(target: Target): Promise<void> {
    this.#payment = await new Purse(target, BUYER).sign(CREATION);
  }

  protected operation(): Operation {
    return CREATION;
  }

  protected async payment(index: number): Promise<string> {
    return forged(this.#payment, index);
  }
}

/**
 * Attack 5: payments of contract wallets on which the facilitator fails or never answers (see `facilitator.ts`), in bursts:
 * a circuit that counts failures in a row must meet no honest success between them.
 */
export class ContractSignatures extends Flood {
  protected override readonly burst = 16;
  readonly #fate: ContractFate;
  #purse: Purse | undefined;

  /** @param intensity payments a second */
  constructor(intensity: number, fate: ContractFate) {
    super(intensity);
    this.#fate = fate;
  }

  protected override async prepare(target: Target): Promise<void> {
    this.#purse = new Purse(target, BUYER);
    await this.#purse.sign(SEARCH);
    await this.#purse.sign(CREATION);
  }

  protected operation(index: number): Operation {
    return index % 2 === 0 ? SEARCH : CREATION;
  }

  protected async payment(index: number): Promise<string> {
    return contractSigned(await this.#purse!.sign(this.operation(index)), this.#fate, index); // from `prepare` on
  }
}
