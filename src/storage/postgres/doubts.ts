/**
 * What ended attempts of this process may still hold in the database: their release failed, or an answer was lost and the statement
 * may be carried out late. Settlement had not begun, so each look gives it back.
 */
import type { Clock } from '../../base/clock.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';
import type { Cases } from './cases.ts';
import type { Claims } from './claims.ts';
import { LATE_MS } from './database.ts';
import type { Identifiers } from './identifiers.ts';

/** What one attempt may still hold. */
export interface Doubt {
  readonly key: ReservationKey;
  readonly attempt: number;
  /** Its identifiers. */
  readonly claims: readonly IdentifierClaim[];
  /** undefined: it recorded no intent. */
  readonly serial: number | undefined;
}

/** Attempts are numbered. */
export interface Attempts {
  readonly last: number;
  /** Those that have not ended. */
  readonly live: readonly number[];
}

export interface DoubtsParts {
  readonly clock: Clock;
  readonly claims: Pick<Claims, 'release' | 'freeStrays'>;
  readonly identifiers: Pick<Identifiers, 'release' | 'freeStrays'>;
  readonly cases: Pick<Cases, 'release'>;
}

export class Doubts {
  readonly #parts: DoubtsParts;
  #doubts: Doubt[] = [];
  /** Monotonic time until which claims of ended attempts may still appear; undefined = all that appeared are free. */
  #straysUntilMs: number | undefined;

  constructor(parts: DoubtsParts) {
    this.#parts = parts;
  }

  /** Of the cases that may be open. */
  get serials(): number[] {
    return this.#doubts.flatMap(({ serial }) => serial ?? []);
  }

  /** The next look tidies it. */
  add(doubt: Doubt): void {
    this.#doubts.push(doubt);
  }

  /** Claims may appear, or be there, that no attempt knows of. */
  expectStrays(): void {
    this.#straysUntilMs = this.#parts.clock.monotonicMs() + LATE_MS;
  }

  /** Frees what an attempt may hold. Never rejects: a later look repeats what fails now. */
  async tidy(doubt: Doubt): Promise<void> {
    const { key, attempt, claims, serial } = doubt;
    const { identifiers, cases } = this.#parts;
    try {
      await this.#parts.claims.release({ key, attempt });
      if (claims.length > 0) await identifiers.release(claims, attempt);
      if (serial !== undefined) await cases.release.add({ serial, transaction: '' });
    } catch {
      this.#doubts.push(doubt);
    }
  }

  /** @param attempts read when it is needed */
  async look(attempts: () => Attempts): Promise<void> {
    const doubts = this.#doubts;
    this.#doubts = [];
    for (const doubt of doubts) await this.tidy(doubt);
    const untilMs = this.#straysUntilMs;
    if (untilMs === undefined) return;
    // The database may have been away until that time, so free once more after it.
    const isOver = this.#parts.clock.monotonicMs() >= untilMs;
    const { last, live } = attempts();
    await this.#parts.claims.freeStrays(last, live);
    await this.#parts.identifiers.freeStrays(last, live);
    if (isOver && this.#straysUntilMs === untilMs) this.#straysUntilMs = undefined;
  }
}
