/** One attack for a long run: on and off by a seed, so that a server meets its beginning and its end again and again. */
import type { Chance } from '../support/chance.ts';
import { type Attack, Counts, type Figures, Repeated, type Target } from './attack.ts';

const ON_MS_MIN = 30_000;
const ON_MS_MAX = 90_000;
const OFF_MS_MIN = 3_000;
const OFF_MS_MAX = 15_000;
/** Attacks do not all begin in the same second. */
const FIRST_MS_MAX = 10_000;

export class Rhythm implements Attack {
  readonly #make: () => Attack;
  readonly #chance: Chance;
  readonly #loop = new Repeated();
  /** Of the attacks that have ended. */
  readonly #past = new Counts();
  #current: Attack | undefined;

  constructor(make: () => Attack, chance: Chance) {
    this.#make = make;
    this.#chance = chance;
  }

  async start(target: Target): Promise<void> {
    this.#loop.after(this.#chance.between(0, FIRST_MS_MAX), () => void this.#on(target));
  }

  async #on(target: Target): Promise<void> {
    const attack = this.#make();
    this.#current = attack;
    const isOn = await attack.start(target).then(
      () => true,
      () => false,
    );
    this.#past.add(isOn ? 'times on' : 'could not begin');
    if (this.#loop.isStopped) attack.stop();
    this.#loop.after(isOn ? this.#chance.between(ON_MS_MIN, ON_MS_MAX) : 0, () => {
      this.#end();
      this.#loop.after(this.#chance.between(OFF_MS_MIN, OFF_MS_MAX), () => void this.#on(target));
    });
  }

  #end(): void {
    this.#current?.stop();
    this.#past.include(this.#current?.figures ?? {});
    this.#current = undefined;
  }

  stop(): void {
    this.#loop.stop();
    this.#end();
  }

  get figures(): Figures {
    const counts = new Counts();
    counts.include(this.#past.figures);
    counts.include(this.#current?.figures ?? {});
    return counts.figures;
  }
}
