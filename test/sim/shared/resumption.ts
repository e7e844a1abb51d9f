/**
 * Sales go on within a second of the end of an outage of the database: for so long no other fault is drawn, and new payers buy at
 * every process that is well itself, until it has sold something.
 */
import type { Customers } from './customers.ts';
import type { Gate, Outside } from './gate.ts';
import type { OutageKind } from './wire.ts';

export const RESUMED_MS = 1_000;
/** Between two buyers at one process. */
const PAUSE_MS = 150;

export class Resumption {
  readonly #outside: Outside;
  readonly #customers: Customers;
  readonly #gates: () => readonly Gate[];

  constructor(outside: Outside, customers: Customers, gates: () => readonly Gate[]) {
    this.#outside = outside;
    this.#customers = customers;
    this.#gates = gates;
  }

  /** An outage has ended. */
  judge(kind: OutageKind): void {
    const { world, wire, facilitator, profile } = this.#outside;
    // A facilitator that was lost may be left alone for longer.
    if (profile.settlement === 'facilitator' && profile.outside.facilitatorFaultShare > 0) return;
    wire.calmUntilMs = world.nowMs + RESUMED_MS;
    facilitator.isHealed = true;
    world.after(RESUMED_MS, () => {
      facilitator.isHealed = wire.isHealed;
    });
    for (const gate of this.#gates()) if (this.#isWell(gate, world.nowMs)) this.#buyAt(gate, kind);
  }

  /** It serves, and nothing of its own held it up in that time. */
  #isWell({ isAccepting, stalledUntilMs, cutUntilMs, hangsUntilMs, clockOffUntilMs }: Gate, sinceMs: number): boolean {
    return isAccepting && Math.max(stalledUntilMs, cutUntilMs, hangsUntilMs, clockOffUntilMs) <= sinceMs;
  }

  #buyAt(gate: Gate, kind: OutageKind): void {
    const { world, wire } = this.#outside;
    const endedMs = world.nowMs;
    const answers: number[] = [];
    const isSold = (): boolean => answers.includes(200);
    for (let atMs = 0; atMs < RESUMED_MS; atMs += PAUSE_MS) {
      world.after(atMs, () => isSold() || this.#customers.buyAt(gate, ({ status }) => answers.push(status)));
    }
    world.after(RESUMED_MS, () => {
      if (wire.outage !== undefined || !this.#isWell(gate, endedMs)) return;
      world.met('L4 sales go on');
      if (isSold()) return;
      const said = answers.length === 0 ? 'no answer' : answers.join(', ');
      world.fail('L4 sales go on', `${gate.name} has sold nothing since the database was ${kind}: ${said}`);
    });
  }
}
