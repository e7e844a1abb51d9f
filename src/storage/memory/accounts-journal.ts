/**
 * The journal of the accounts in memory (a port): it records what must outlive the process and returns it at the next start.
 */
import type { KeyRecord } from '../../accounts/accounts.ts';
import type { BalanceRecord, OnboardingGrant, Taken } from '../../accounts/balance.ts';

/** A stored key: everything except its text. */
export interface StoredKey extends KeyRecord {
  /** SHA-256 of the text, 32 bytes. */
  readonly digest: Uint8Array;
}

/** A change, as plain data. One that names a new organization creates it. */
export type AccountChange =
  | { readonly kind: 'key'; readonly key: StoredKey }
  | { readonly kind: 'revoke'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'onboarding'; readonly organization: string; readonly grant: OnboardingGrant }
  /** The amount from now on; 0 ends the subscription. */
  | { readonly kind: 'subscription'; readonly organization: string; readonly amount: number }
  | ChargeChange
  /** The minutes in which keys were last used. */
  | { readonly kind: 'used'; readonly uses: readonly KeyUse[] };

export interface ChargeChange {
  readonly kind: 'charge';
  readonly organization: string;
  readonly taken: Taken;
}

export interface KeyUse {
  readonly id: string;
  readonly atMs: number;
}

/** Changes take effect in the order of the calls. */
export interface AccountsJournal {
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  /**
   * Resolves when the change is on record. Rejects with a RecordInDoubtError when it may be on record, with another
   * OutageError when it is not, and for a bug with any other error: then it is not either.
   */
  write(change: AccountChange): Promise<void>;
}

/** The accounts of earlier processes. */
export interface LoadedAccounts {
  readonly organizations: Iterable<readonly [name: string, balance: BalanceRecord]>;
  /** In the order of their creation. */
  readonly keys: Iterable<StoredKey>;
  /** Why they could not be read, one line: the state is damaged. */
  readonly damage: string | undefined;
}

export const NO_ACCOUNTS: LoadedAccounts = { organizations: [], keys: [], damage: undefined };
