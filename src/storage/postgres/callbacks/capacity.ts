/**
 * Room for callbacks, of all processes together: one row counts callbacks and claims, and the statement that takes a claim holds
 * it. Claims of one turn go as a group. What is shown, and whether a purchase may begin, comes from the count as it was last seen
 * here, so an unpaid offer costs no round trip; the claim itself decides.
 */
import type { Random } from '../../../base/random.ts';
import type { CallbackCapacity } from '../../../callback/callbacks.ts';
import { CLAIM_BYTES } from '../../../callback/limits.ts';
import type { Database } from '../database.ts';
import { Group } from '../groups.ts';
import { CLAIM, countOf, UNCLAIM } from './statements.ts';

const ROOM = 'room';

export class SharedCapacity implements CallbackCapacity {
  readonly capacityBytes: number;
  readonly #database: Database;
  readonly #random: Random;
  readonly #sweep: () => Promise<void>;
  readonly #claims: Group<string, boolean>;
  /** Ids of claims of this process that are no callback yet, oldest first: any of them serves any creation. */
  readonly #held: string[] = [];
  /** Callbacks and claims of all processes, as last seen. */
  #claimedCount = 0;

  /** @param sweep frees what has expired, and notes the count */
  constructor(capacityBytes: number, database: Database, random: Random, sweep: () => Promise<void>) {
    this.capacityBytes = capacityBytes;
    this.#database = database;
    this.#random = random;
    this.#sweep = sweep;
    this.#claims = new Group((ids) => this.#claim(ids), { keyOf: () => ROOM, takesRepeatedKeys: true });
  }

  get claimedBytes(): number {
    return this.#claimedCount * CLAIM_BYTES;
  }

  note(claimedCount: number): void {
    this.#claimedCount = claimedCount;
  }

  /** A callback or a claim more or fewer, by a statement of this process. */
  add(count: number): void {
    this.#claimedCount = Math.max(0, this.#claimedCount + count);
  }

  isFree(): boolean | Promise<boolean> {
    return this.#hasRoom() || this.#sweep().then(() => this.#hasRoom());
  }

  async tryClaim(): Promise<boolean> {
    if (await this.#claims.add(this.#random.uuid())) return true;
    await this.#sweep();
    return this.#hasRoom() && this.#claims.add(this.#random.uuid());
  }

  release(): Promise<void> {
    return this.giveBack(this.take());
  }

  /** The claim that becomes a callback now; '' for a creation without one, which takes its room unasked. */
  take(): string {
    return this.#held.shift() ?? '';
  }

  /** Ends a claim that {@link take} gave and that became no callback. */
  async giveBack(id: string): Promise<void> {
    if (id === '') return;
    const [row] = await this.#database.run({ ...UNCLAIM, values: [id] }, { isPatient: true });
    if (row !== undefined) this.note(row.claimed as number);
  }

  #hasRoom(): boolean {
    return (this.#claimedCount + 1) * CLAIM_BYTES <= this.capacityBytes;
  }

  async #claim(ids: readonly string[]): Promise<boolean[]> {
    const [row] = await this.#database.run({ ...CLAIM, values: [ids, countOf(this.capacityBytes)] });
    const held = new Set(row?.held as string[]);
    this.note(row?.claimed as number);
    return ids.map((id) => {
      if (!held.has(id)) return false;
      this.#held.push(id);
      return true;
    });
  }
}
