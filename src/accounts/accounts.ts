/**
 * Organizations, keys and credits (a port; siblings §3). Backends implement it, and test/suites/accounts.ts is the suite that
 * every implementation passes.
 *
 * A charge is indivisible, even when it takes from several grants. It is on record before its answer, so a kill after the
 * answer does not lose it. Concurrent charges never take more than the balance. A key's text is never stored.
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

/** A key to be created, with its organization if that does not exist yet. */
export interface KeyDraft {
  /** As `isOrganizationName` accepts it. */
  readonly organization: string;
  /** At least one, without repetitions. */
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

/** Why a change by the operator was refused. */
export type NotChanged =
  /** `detail`: one line for the operator. */
  | { readonly kind: 'unavailable'; readonly detail: string }
  /** The number of records has reached its bound in `limits.ts`. */
  | { readonly kind: 'full' }
  /** The organization is `demo`, which is valid only with play money. */
  | { readonly kind: 'play-only' };

/** `text`: the key itself, given only here. */
export type KeyCreation = { readonly kind: 'created'; readonly key: KeyRecord; readonly text: string } | NotChanged;

export type Revocation = { readonly kind: 'revoked' } | { readonly kind: 'unknown' } | NotChanged;

/** Credits to grant; the organization is created if it does not exist yet. */
export interface GrantDraft {
  readonly organization: string;
  readonly kind: GrantKind;
  /** 1 to AMOUNT_MAX; for a subscription also 0, which ends it. */
  readonly amount: number;
  /** When onboarding credits lapse; null = never. Always null for a subscription. */
  readonly expiresAtMs: number | null;
}

/** `remaining`: of this grant. */
export type Granting = { readonly kind: 'granted'; readonly remaining: number } | NotChanged;

export interface OrganizationCredits {
  readonly organization: string;
  /** Credits left in all grants. */
  readonly remaining: number;
  /** In the order in which charges take from them; without lapsed ones. */
  readonly grants: readonly Grant[];
}

export interface Accounts {
  /**
   * undefined for an unknown, revoked or expired key alike. Notes the use, to the minute.
   * @throws OutageError while keys cannot be looked up, so that a good key is not called wrong
   */
  authenticate(keyText: string): MaybePromise<KeyHolder | undefined>;
  /**
   * Takes the whole amount of credits or nothing; the charge is on record when this answers. An amount of 0 takes nothing and
   * returns what remains. Synchronous where memory is the record. A purchase with its own record, such as a retry job, is
   * charged by that record's store instead.
   * @throws Error when the organization does not exist: a bug in the caller
   */
  charge(organization: string, amount: number): MaybePromise<Charge>;
  /** The charges of the current month; undefined for an unknown organization. */
  usage(organization: string): MaybePromise<Usage | undefined>;
  createKey(draft: KeyDraft): MaybePromise<KeyCreation>;
  /**
   * Keys in order of creation, including revoked and expired ones; of all organizations when none is given.
   * @throws OutageError while the state cannot be read
   */
  listKeys(organization?: string): MaybePromise<readonly KeyRecord[]>;
  /** Effective for every {@link authenticate} that begins after this resolves. Repeating it changes nothing. */
  revokeKey(id: string): MaybePromise<Revocation>;
  /** Grants onboarding credits, or sets the amount of the subscription, less this month's charges. */
  grant(draft: GrantDraft): MaybePromise<Granting>;
  /** The credits of an organization; undefined for an unknown one. @throws OutageError while the state cannot be read */
  organization(name: string): MaybePromise<OrganizationCredits | undefined>;
  /** Whether there is any organization. */
  hasOrganizations(): MaybePromise<boolean>;
}
