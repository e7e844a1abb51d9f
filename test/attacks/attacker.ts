/** Entry of the attackers' process: starts what it is ordered, and reports figures when it is asked. */
import { setPriority } from 'node:os';
import { Chance } from '../support/chance.ts';
import type { Attack, Figures, Target } from './attack.ts';
import { ATTACKS, type AttackOrder } from './attacks.ts';
import { Rhythm } from './rhythm.ts';

export type ToAttacker =
  | {
      readonly kind: 'start';
      readonly target: Target;
      readonly orders: readonly AttackOrder[];
      /** Each attack goes on and off by this seed; undefined: all are on until they are stopped. */
      readonly seed: number | undefined;
    }
  | { readonly kind: 'figures' }
  | { readonly kind: 'stop' };

export type FromAttacker =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'figures'; readonly figures: Readonly<Record<string, Figures>> };

/** The server and the honest customers go first: attackers of real life do not share their machine. */
setPriority(5);

const running = new Map<string, Attack>();
const tell = (message: FromAttacker): void => {
  process.send?.(message);
};

async function start(target: Target, orders: readonly AttackOrder[], seed: number | undefined): Promise<void> {
  for (const { name, intensity } of orders) {
    const make = (): Attack => ATTACKS[name](intensity);
    const attack = seed === undefined ? make() : new Rhythm(make, new Chance(seed).named(name));
    running.set(name, attack);
    await attack.start(target);
  }
}

process.on('message', (message: ToAttacker) => {
  switch (message.kind) {
    case 'start':
      start(message.target, message.orders, message.seed).then(
        () => tell({ kind: 'started' }),
        (failure: unknown) => tell({ kind: 'failed', why: String(failure) }),
      );
      return;
    case 'stop':
      for (const attack of running.values()) attack.stop();
      tell({ kind: 'figures', figures: figures() });
      return;
    case 'figures':
      tell({ kind: 'figures', figures: figures() });
      return;
    default:
      message satisfies never;
  }
});
process.on('disconnect', () => process.exit(0));

const figures = (): Record<string, Figures> =>
  Object.fromEntries([...running].map(([name, attack]) => [name, attack.figures]));
