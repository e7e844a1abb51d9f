/**
 * The journal of the resolves in memory (a port): it records what must outlive the process and returns it at the next start.
 */
import type { ResolveId } from '../../resolve/identifier.ts';
import type { OutcomeJson, ResolveRecord } from '../../resolve/resolve-store.ts';
import type { ResolveOutcome } from '../../resolve/result.ts';

/** A change, as plain data. */
export type ResolveChange =
  | { readonly kind: 'create'; readonly resolve: ResolveRecord }
  | {
      readonly kind: 'finish';
      readonly id: ResolveId;
      readonly status: ResolveOutcome['status'];
      /** UTF-8 of the outcome's JSON. */
      readonly outcome: Uint8Array;
    }
  /** Their hour is over: deletes question and outcome. */
  | { readonly kind: 'expire'; readonly ids: readonly ResolveId[] }
  | { readonly kind: 'forget'; readonly ids: readonly ResolveId[] };

/** Changes take effect in the order of the calls. */
export interface ResolvesJournal {
  /** Resolves when the change is on record, and rejects when it is not, or may not be. */
  write(change: ResolveChange): Promise<void>;
  /** The outcome of a resolve that has one; undefined when it was deleted. Rejects when it cannot be read. */
  readOutcome(id: ResolveId): Promise<OutcomeJson | undefined>;
}

/** A resolve of an earlier process. */
export interface LoadedResolve extends Omit<ResolveRecord, 'question'> {
  readonly status: 'pending' | ResolveOutcome['status'];
  /** undefined once it has an outcome, or, if it is pending, its hour is over for good. */
  readonly question: ResolveRecord['question'] | undefined;
  readonly outcomeBytes: number;
}
