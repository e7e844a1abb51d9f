/**
 * Capacity for callbacks, shared by all processes: one row counts callbacks and claims, and a statement that claims
 * locks it. Claims of one turn go as a group. Metrics, and whether a purchase may begin, use the count as last seen
 * here, so an unpaid offer costs no round trip; the claim itself decides.
 */
import type { MaybePromise } from '../../../base/maybe-promise.ts';
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
  /** Ids of this process's claims without a callback yet, oldest first: any claim serves any creation. */
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

  /** Adjusts the count after a statement of this process added or removed a callback or claim. */
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

  release(): MaybePromise<void> {
    return this.giveBack(this.take());
  }

  /**
   * The claim for the callback being created; '' when there is none: that creation takes its capacity without a check.
   */
  take(): string {
    return this.#held.shift() ?? '';
  }

  /**
   * Ends a claim from {@link take} for which no callback was created. While the database is away, no answer waits for that: a
   * claim that is not given back lapses.
   */
  giveBack(id: string): MaybePromise<void> {
    if (id === '') return undefined;
    const given = this.#unclaim(id);
    if (this.#database.fault() === undefined) return given;
    given.catch(() => {});
    return undefined;
  }

  #hasRoom(): boolean {
    return (this.#claimedCount + 1) * CLAIM_BYTES <= this.capacityBytes;
  }

  async #unclaim(id: string): Promise<void> {
    const [row] = await this.#database.run({ ...UNCLAIM, values: [id] }, { isPatient: true });
    if (row !== undefined) this.note(row.claimed as number);
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
