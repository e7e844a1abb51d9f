/**
 * Attack 7: one client that writes its address differently each time, as a proxy passes it on (RFC 7239 §6 allows ports), or
 * that uses the many addresses of its network. Needs `TRUST_PROXY=true`.
 */
import { ask } from './ask.ts';
import { type Attack, attackerAt, BEGUN, Counts, type Figures, Repeated, type Target } from './attack.ts';
import { SEARCH } from './purse.ts';

const hex = (index: number): string => (index + 1).toString(16);

/** One client each, under ever new names. */
export const DISGUISES = {
  'IPv4 with ports': (index) => `198.51.100.66:${1024 + index}`,
  'IPv6 in brackets with ports': (index) => `[2001:db8:66::1]:${1024 + index}`,
  'addresses of one /64': (index) => `2001:db8:66:1:${hex(index)}::${hex(index)}`,
  'addresses of one /64 with ports': (index) => `[2001:db8:66:2::${hex(index)}]:${1024 + index}`,
  'addresses of one /64 with zones': (index) => `2001:db8:66:3::1%eth${index}`,
  'IPv4 in IPv6 with ports': (index) => `[::ffff:198.51.100.67]:${1024 + index}`,
  'one IPv4 as IPv6 and as itself': (index) =>
    ['198.51.100.68', '::ffff:198.51.100.68', '::FFFF:c633:6444', '0:0:0:0:0:ffff:198.51.100.68'][index % 4]!,
} as const satisfies Record<string, (index: number) => string>;

export class Disguises implements Attack {
  readonly #counts = new Counts();
  readonly #loop = new Repeated();
  readonly #rate: number;

  /** @param intensity requests a second for each disguise */
  constructor(intensity: number) {
    this.#rate = intensity;
  }

  async start(target: Target): Promise<void> {
    if (!target.isProxied) throw new Error('this attack needs TRUST_PROXY=true');
    for (const [name, disguise] of Object.entries(DISGUISES)) {
      this.#loop.perSecond(this.#rate, (index) => {
        this.#counts.add(BEGUN);
        const question = { ...SEARCH, from: attackerAt(0), forwarded: disguise(index) };
        void ask(target, question).then(({ status }) => {
          this.#counts.add(`${name}: asked`);
          if (status === 402) this.#counts.add(`${name}: passed`);
        });
      });
    }
  }

  stop(): void {
    this.#loop.stop();
  }

  get figures(): Figures {
    return this.#counts.figures;
  }
}
