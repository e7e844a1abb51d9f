/**
 * Organizations, keys and credits (a port; siblings §3). Backends implement it, and test/suites/accounts.ts is the suite that
 * every implementation passes.
 *
 * Indivisible: a charge, with everything that it takes from several grants. It is on record before its answer, so a kill after
 * the answer does not lose it. Charges that race never take more than there is. A key's text is stored nowhere.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Grant, GrantKind, Usage } from './balance.ts';
import type { Scope } from './scopes.ts';

/** What an accepted key says about a request. */
export interface KeyHolder {
  readonly keyId: string;
  readonly organization: string;
  readonly scopes: readonly Scope[];
}

export type Charge =
  | { readonly kind: 'charged'; readonly remaining: number }
  /** Nothing was taken. */
  | { readonly kind: 'insufficient'; readonly remaining: number }
  /** The charge is not on record, or may not be, so the answer must not leave. `detail`: why, one line for the log. */
  | { readonly kind: 'unavailable'; readonly detail: string };

/** A key that is to be made; its organization is made with it. */
export interface KeyDraft {
  /** As `isOrganizationName` accepts it. */
  readonly organization: string;
  /** One at least, none twice. */
  readonly scopes: readonly Scope[];
  /** null: it does not expire. */
  readonly expiresAtMs: number | null;
}

/** A key without its text. */
export interface KeyRecord extends KeyDraft {
  readonly id: string;
  readonly createdAtMs: number;
  /** The start of the minute of its last use; null = it was not used. */
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
}

/** Why an operator's change was not made. */
export type NotChanged =
  /** `detail`: one line for the operator. */
  | { readonly kind: 'unavailable'; readonly detail: string }
  /** There are as many records as `limits.ts` permits. */
  | { readonly kind: 'full' }
  /** The organization `demo`, which holds with play money only. */
  | { readonly kind: 'play-only' };

/** `text`: the key itself, given only here. */
export type KeyCreation = { readonly kind: 'created'; readonly key: KeyRecord; readonly text: string } | NotChanged;

export type Revocation = { readonly kind: 'revoked' } | { readonly kind: 'unknown' } | NotChanged;

/** Credits to give; the organization is made with them. */
export interface GrantDraft {
  readonly organization: string;
  readonly kind: GrantKind;
  /** 1 to AMOUNT_MAX; for a subscription also 0, which ends it. */
  readonly amount: number;
  /** Of onboarding credits; null = they do not lapse. null for a subscription. */
  readonly expiresAtMs: number | null;
}

/** `remaining`: of this grant. */
export type Granting = { readonly kind: 'granted'; readonly remaining: number } | NotChanged;

export interface OrganizationCredits {
  readonly organization: string;
  /** Of all grants. */
  readonly remaining: number;
  /** In the order in which charges take them; lapsed ones are not among them. */
  readonly grants: readonly Grant[];
}

export interface Accounts {
  /**
   * undefined: unknown, revoked and expired look the same. Notes the use, to the minute.
   * @throws OutageError while keys cannot be looked up: a good key is not said to be wrong
   */
  authenticate(keyText: string): MaybePromise<KeyHolder | undefined>;
  /**
   * Takes credits, all of the amount or nothing. It is on record once it is there. An amount of 0 takes nothing and says what
   * remains. Synchronous where memory is the record. What is a record of its own has its charge recorded with it, by its store.
   * @throws Error when the organization does not exist: a bug in the caller
   */
  charge(organization: string, amount: number): MaybePromise<Charge>;
  /** The charges of the present month; undefined for an unknown organization. */
  usage(organization: string): MaybePromise<Usage | undefined>;
  createKey(draft: KeyDraft): MaybePromise<KeyCreation>;
  /**
   * In the order of their creation, revoked and expired ones too; of all organizations when none is given.
   * @throws OutageError while the state cannot be read
   */
  listKeys(organization?: string): MaybePromise<readonly KeyRecord[]>;
  /** Holds for every {@link authenticate} after its answer. May be repeated, and changes nothing then. */
  revokeKey(id: string): MaybePromise<Revocation>;
  /** Gives onboarding credits, or sets the amount of the subscription with this month's charges taken off. */
  grant(draft: GrantDraft): MaybePromise<Granting>;
  /** undefined for an unknown one. @throws OutageError while the state cannot be read */
  organization(name: string): MaybePromise<OrganizationCredits | undefined>;
  /** Whether there is any organization. */
  hasOrganizations(): MaybePromise<boolean>;
}
