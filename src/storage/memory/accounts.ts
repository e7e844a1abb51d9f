/**
 * Organizations, keys and credits in the memory of this process (siblings §3), where every charge is decided. With a
 * journal, a charge takes its credits at once and resolves when it is on record; if it could not be recorded it gives
 * them back, unless it may be on record after all. The operator's changes take effect once they are on record.
 *
 * Uses of keys alone do not cause a commit: they gather and are written once a minute and at shutdown, so a kill may
 * lose those of the last minute.
 */
import type {
  Accounts,
  Charge,
  GrantDraft,
  Granting,
  KeyCreation,
  KeyDraft,
  KeyHolder,
  KeyRecord,
  NotChanged,
  OrganizationCredits,
  Revocation,
} from '../../accounts/accounts.ts';
import { Balance, type Usage } from '../../accounts/balance.ts';
import { keyDigestOf, newKeyId, newSecret } from '../../accounts/key.ts';
import { GRANT_COUNT_MAX, KEY_COUNT_MAX, ORGANIZATION_COUNT_MAX } from '../../accounts/limits.ts';
import { DEMO_ORGANIZATION } from '../../accounts/organization.ts';
import type { Clock } from '../../base/clock.ts';
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import { OutageError, RecordInDoubtError } from '../../base/outage.ts';
import type { Random } from '../../base/random.ts';
import type { Timers } from '../../base/timers.ts';
import {
  type AccountChange,
  type AccountsJournal,
  type ChargeChange,
  type LoadedAccounts,
  NO_ACCOUNTS,
} from './accounts-journal.ts';
import { StoredKeys, USE_COUNT_MAX, USES_PAUSE_MS } from './stored-keys.ts';

export interface AccountsPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
}

export interface AccountsOptions {
  /** Settlements move play money, so the keys of {@link DEMO_ORGANIZATION} are valid. */
  readonly isPlay: boolean;
  /** undefined: nothing outlives the process. */
  readonly journal?: AccountsJournal | undefined;
  readonly loaded?: LoadedAccounts | undefined;
}

/** Whether a change is on record; `in-doubt` means that it may be. */
type Written = { readonly kind: 'written' } | { readonly kind: 'refused' | 'in-doubt'; readonly detail: string };

/** Records a charge; rejects as {@link AccountsJournal.write} does. */
export type RecordCharge = (charge: ChargeChange) => Promise<void>;

const WRITTEN: Written = { kind: 'written' };
const FULL: NotChanged = { kind: 'full' };
const PLAY_ONLY: NotChanged = { kind: 'play-only' };

export class MemoryAccounts implements Accounts {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timers: Timers;
  readonly #isPlay: boolean;
  readonly #journal: AccountsJournal | undefined;
  readonly #damage: string | undefined;
  readonly #balances = new Map<string, Balance>();
  readonly #keys = new StoredKeys();
  #lastGrantSerial = 0;
  /** Ids of keys whose last use is not on record. */
  #used = new Set<string>();
  #cancelUses: (() => void) | undefined;

  constructor({ clock, random, timers }: AccountsPorts, { isPlay, journal, loaded = NO_ACCOUNTS }: AccountsOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#timers = timers;
    this.#isPlay = isPlay;
    this.#journal = journal;
    this.#damage = loaded.damage;
    for (const [name, record] of loaded.organizations) {
      this.#balances.set(name, new Balance(record));
      for (const { serial } of record.onboarding) this.#lastGrantSerial = Math.max(this.#lastGrantSerial, serial);
    }
    for (const key of loaded.keys) this.#keys.add(key);
  }

  authenticate(keyText: string): KeyHolder | undefined {
    const digest = keyDigestOf(keyText);
    if (digest === undefined) return undefined;
    this.#requireReadable();
    const nowMs = this.#clock.nowMs();
    const key = this.#keys.findByDigest(digest);
    if (key === undefined || key.revokedAtMs !== null) return undefined;
    if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return undefined;
    if (!this.#isPlay && key.holder.organization === DEMO_ORGANIZATION) return undefined;
    if (this.#keys.noteUse(key, nowMs)) this.#recordUseLater(key.id);
    return key.holder;
  }

  /** @param record puts the charge on record with what it buys, in place of the journal */
  charge(organization: string, amount: number, record?: RecordCharge): MaybePromise<Charge> {
    const balance = this.#balances.get(organization);
    if (balance === undefined) throw new Error('a charge of an unknown organization');
    const nowMs = this.#clock.nowMs();
    if (amount === 0) return { kind: 'charged', remaining: balance.remaining(nowMs) };
    const journal = this.#journal;
    const fault = journal?.fault();
    if (fault !== undefined) return { kind: 'unavailable', detail: fault };
    const taken = balance.charge(amount, nowMs);
    const remaining = balance.remaining(nowMs);
    if (taken === undefined) return { kind: 'insufficient', remaining };
    const charged: Charge = { kind: 'charged', remaining };
    const charge: ChargeChange = { kind: 'charge', organization, taken };
    const recording = record === undefined ? journal?.write(charge) : record(charge);
    return recording === undefined ? charged : this.#recorded(recording, () => balance.giveBack(taken), charged);
  }

  usage(organization: string): Usage | undefined {
    return this.#balances.get(organization)?.usage(this.#clock.nowMs());
  }

  createKey(draft: KeyDraft): MaybePromise<KeyCreation> {
    const refused = this.#refusalOf(draft.organization);
    if (refused !== undefined) return refused;
    if (this.#keys.count >= KEY_COUNT_MAX) return FULL;
    const { text, digest } = this.#distinctSecret();
    const key: KeyRecord = {
      ...draft,
      scopes: [...draft.scopes],
      id: newKeyId(this.#random),
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
      revokedAtMs: null,
    };
    const stored = { ...key, digest };
    return this.#change({ kind: 'key', key: stored }, () => {
      this.#balanceOf(draft.organization);
      this.#keys.add(stored);
      return { kind: 'created', key, text };
    });
  }

  listKeys(organization?: string): readonly KeyRecord[] {
    this.#requireReadable();
    return this.#keys.list(organization);
  }

  revokeKey(id: string): MaybePromise<Revocation> {
    const key = this.#keys.findById(id);
    if (key === undefined) {
      return this.#damage === undefined ? { kind: 'unknown' } : { kind: 'unavailable', detail: this.#damage };
    }
    if (key.revokedAtMs !== null) return { kind: 'revoked' };
    const atMs = this.#clock.nowMs();
    const revoked = (): Revocation => {
      key.revokedAtMs ??= atMs;
      return { kind: 'revoked' };
    };
    // A revocation in doubt takes effect at once: the operator wants the key to stop working.
    return this.#change({ kind: 'revoke', id, atMs }, revoked, revoked);
  }

  grant({ organization, kind, amount, expiresAtMs }: GrantDraft): MaybePromise<Granting> {
    const refused = this.#refusalOf(organization);
    if (refused !== undefined) return refused;
    if (kind === 'subscription') {
      return this.#change({ kind, organization, amount }, () => {
        const balance = this.#balanceOf(organization);
        balance.setSubscription(amount);
        const grant = balance.grants(this.#clock.nowMs()).find((one) => one.kind === 'subscription');
        return { kind: 'granted', remaining: grant?.remaining ?? 0 };
      });
    }
    if ((this.#balances.get(organization)?.onboardingCount ?? 0) >= GRANT_COUNT_MAX) return FULL;
    const grant = { serial: ++this.#lastGrantSerial, amount, remaining: amount, expiresAtMs };
    return this.#change({ kind, organization, grant }, () => {
      this.#balanceOf(organization).addOnboarding(grant);
      return { kind: 'granted', remaining: amount };
    });
  }

  organization(name: string): OrganizationCredits | undefined {
    this.#requireReadable();
    const balance = this.#balances.get(name);
    if (balance === undefined) return undefined;
    const nowMs = this.#clock.nowMs();
    return { organization: name, remaining: balance.remaining(nowMs), grants: balance.grants(nowMs) };
  }

  hasOrganizations(): boolean {
    return this.#balances.size > 0;
  }

  /** Records the uses of keys still waiting. Never rejects. */
  async close(): Promise<void> {
    this.#cancelUses?.();
    this.#cancelUses = undefined;
    await this.#recordUses();
  }

  /** Throws rather than report records of a damaged state as missing. */
  #requireReadable(): void {
    if (this.#damage !== undefined) throw new OutageError(this.#damage);
  }

  #refusalOf(organization: string): NotChanged | undefined {
    if (this.#damage !== undefined) return { kind: 'unavailable', detail: this.#damage };
    if (!this.#isPlay && organization === DEMO_ORGANIZATION) return PLAY_ONLY;
    const isNew = !this.#balances.has(organization);
    return isNew && this.#balances.size >= ORGANIZATION_COUNT_MAX ? FULL : undefined;
  }

  #balanceOf(organization: string): Balance {
    let balance = this.#balances.get(organization);
    if (balance === undefined) {
      balance = new Balance();
      this.#balances.set(organization, balance);
    }
    return balance;
  }

  /** A new secret whose digest shares its first bytes with no other key's. */
  #distinctSecret(): ReturnType<typeof newSecret> {
    let secret = newSecret(this.#random);
    while (this.#keys.hasLike(secret.digest)) secret = newSecret(this.#random);
    return secret;
  }

  /**
   * Records an operator's change, then makes it.
   * @param kept applies a change that may be on record; without it such a change is not made
   */
  #change<T>(change: AccountChange, make: () => T, kept?: () => void): MaybePromise<T | NotChanged> {
    return chain(this.#write(change), (written) => {
      if (written.kind === 'written') return make();
      if (written.kind === 'in-doubt') kept?.();
      return { kind: 'unavailable', detail: written.detail };
    });
  }

  #write(change: AccountChange): MaybePromise<Written> {
    if (this.#journal === undefined) return WRITTEN;
    return this.#journal.write(change).then(
      () => WRITTEN,
      (failure: unknown) => {
        if (!(failure instanceof OutageError)) throw failure;
        return { kind: failure instanceof RecordInDoubtError ? 'in-doubt' : 'refused', detail: failure.message };
      },
    );
  }

  async #recorded(writing: Promise<void>, giveBack: () => void, charged: Charge): Promise<Charge> {
    try {
      await writing;
      return charged;
    } catch (failure) {
      // Credits of a charge that may be on record stay taken, so that none is spent twice.
      if (!(failure instanceof RecordInDoubtError)) giveBack();
      if (!(failure instanceof OutageError)) throw failure;
      return { kind: 'unavailable', detail: failure.message };
    }
  }

  #recordUseLater(id: string): void {
    if (this.#journal === undefined) return;
    this.#used.add(id);
    this.#cancelUses ??= this.#timers.after(USES_PAUSE_MS, () => {
      this.#cancelUses = undefined;
      void this.#recordUses();
    });
  }

  /** Uses that the state refuses are recorded with the next ones. */
  async #recordUses(): Promise<void> {
    const ids = [...this.#used];
    this.#used = new Set();
    for (let at = 0; at < ids.length; at += USE_COUNT_MAX) {
      const part = ids.slice(at, at + USE_COUNT_MAX);
      const uses = this.#keys.usesOf(part);
      await this.#journal?.write({ kind: 'used', uses }).catch(() => {
        for (const id of part) this.#used.add(id);
      });
    }
  }
}
