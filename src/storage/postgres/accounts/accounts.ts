/**
 * Organizations, keys and credits, shared by all processes (siblings §3, §9). Every request looks its key up, so a
 * revocation holds in every process once it is answered; the look-ups of one turn share a statement. Uses of keys
 * gather here and are written once a minute and at shutdown.
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
} from '../../../accounts/accounts.ts';
import type { Usage } from '../../../accounts/balance.ts';
import { keyDigestOf, newKeyId, newSecret } from '../../../accounts/key.ts';
import { GRANT_COUNT_MAX, KEY_COUNT_MAX, ORGANIZATION_COUNT_MAX } from '../../../accounts/limits.ts';
import { DEMO_ORGANIZATION } from '../../../accounts/organization.ts';
import { storedScopes } from '../../../accounts/scopes.ts';
import type { Clock } from '../../../base/clock.ts';
import { HOUR_MS } from '../../../base/durations.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import { OutageError } from '../../../base/outage.ts';
import type { Random } from '../../../base/random.ts';
import type { Timers } from '../../../base/timers.ts';
import { minuteOf, USE_COUNT_MAX, USES_PAUSE_MS } from '../../memory/stored-keys.ts';
import type { Row, Statement } from '../connections.ts';
import type { Database } from '../database.ts';
import { Group } from '../groups.ts';
import type { Owner } from '../owners.ts';
import { Charges, type Purchase } from './charges.ts';
import {
  AUTHENTICATE,
  COUNTS,
  CREATE_KEY,
  FORGET,
  GRANT,
  HAS_ORGANIZATIONS,
  LIST_KEYS,
  NOTE_USES,
  REVOKE,
  SUBSCRIBE,
} from './statements.ts';

/** Pause between two removals of entries and grants that lapsed long ago. */
const FORGET_PAUSE_MS = HOUR_MS;

const FULL: NotChanged = { kind: 'full' };
const PLAY_ONLY: NotChanged = { kind: 'play-only' };

export interface PostgresAccountsPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly database: Database;
  /** Runs the looks of a process that charges; a command has no owner. */
  readonly owner?: Pick<Owner, 'onLook'>;
  /** Something failed where no request waits for it. */
  onFailure(failure: unknown): void;
}

export class PostgresAccounts implements Accounts {
  readonly #isPlay: boolean;
  readonly #ports: PostgresAccountsPorts;
  readonly #charges: Charges;
  readonly #lookUps: Group<string, Row>;
  /** Keys and the minutes of their last use that are not on record. */
  #uses = new Map<string, number>();
  #cancelUses: (() => void) | undefined;
  #cancelForget: (() => void) | undefined;
  #isClosed = false;

  /** @param isPlay settlements move play money, so the keys of {@link DEMO_ORGANIZATION} hold */
  constructor(isPlay: boolean, ports: PostgresAccountsPorts) {
    const { clock, database, random } = ports;
    this.#isPlay = isPlay;
    this.#ports = ports;
    this.#charges = new Charges(database, clock, random);
    ports.owner?.onLook(() => this.#charges.giveBack());
    this.#lookUps = new Group((digests) => database.run({ ...AUTHENTICATE, values: [digests] }), {
      keyOf: (digest) => digest,
      takesRepeatedKeys: true,
    });
    this.#forgetLater();
  }

  authenticate(keyText: string): MaybePromise<KeyHolder | undefined> {
    const digest = keyDigestOf(keyText);
    if (digest === undefined) return undefined;
    return this.#lookUps.add(Buffer.from(digest).toString('hex')).then((row) => this.#holderOf(row));
  }

  /**
   * @param purchase inserted by the statement that charges. @throws StatementError with the SQLSTATE if it refuses the purchase
   */
  charge(organization: string, amount: number, purchase?: Purchase): Promise<Charge> {
    return this.#charges.charge(organization, amount, purchase);
  }

  async usage(organization: string): Promise<Usage | undefined> {
    const state = await this.#charges.read(organization);
    return state?.balance.usage(state.nowMs);
  }

  async createKey(draft: KeyDraft): Promise<KeyCreation> {
    const { database, random } = this.#ports;
    const { organization, expiresAtMs } = draft;
    const scopes = [...draft.scopes];
    return this.#change(organization, async ({ keys }) => {
      if ((keys as number) >= KEY_COUNT_MAX) return FULL;
      const { text, digest } = newSecret(random);
      const id = newKeyId(random);
      const values = [organization, id, Buffer.from(digest).toString('hex'), scopes.join(' '), expiresAtMs];
      const [row] = await database.run({ ...CREATE_KEY, values });
      const createdAtMs = row?.created_ms as number;
      const key = { id, organization, scopes, createdAtMs, expiresAtMs, lastUsedAtMs: null, revokedAtMs: null };
      return { kind: 'created', key, text };
    });
  }

  async listKeys(organization?: string): Promise<readonly KeyRecord[]> {
    const rows = await this.#ports.database.run({ ...LIST_KEYS, values: [organization ?? null] });
    return rows.map((row) => ({
      id: row.id as string,
      organization: row.organization as string,
      scopes: storedScopes(row.scopes as string),
      createdAtMs: row.created_ms as number,
      expiresAtMs: row.expires_ms as number | null,
      lastUsedAtMs: latest(row.used_ms as number | null, this.#uses.get(row.id as string)),
      revokedAtMs: row.revoked_ms as number | null,
    }));
  }

  async revokeKey(id: string): Promise<Revocation> {
    try {
      const rows = await this.#ports.database.run({ ...REVOKE, values: [id] });
      return { kind: rows.length === 1 ? 'revoked' : 'unknown' };
    } catch (failure) {
      return unavailableOr(failure);
    }
  }

  async grant({ organization, kind, amount, expiresAtMs }: GrantDraft): Promise<Granting> {
    const { database, random } = this.#ports;
    return this.#change(organization, async ({ grants }) => {
      if (kind === 'subscription') {
        await database.run({ ...SUBSCRIBE, values: [organization, amount] });
        const credits = await this.organization(organization);
        const grant = credits?.grants.find((one) => one.kind === 'subscription');
        return { kind: 'granted', remaining: grant?.remaining ?? 0 };
      }
      if ((grants as number) >= GRANT_COUNT_MAX) return FULL;
      await database.run({ ...GRANT, values: [organization, random.uuid(), amount, expiresAtMs] });
      return { kind: 'granted', remaining: amount };
    });
  }

  async organization(name: string): Promise<OrganizationCredits | undefined> {
    const state = await this.#charges.read(name);
    if (state === undefined) return undefined;
    const { balance, nowMs } = state;
    return { organization: name, remaining: balance.remaining(nowMs), grants: balance.grants(nowMs) };
  }

  async hasOrganizations(): Promise<boolean> {
    const [row] = await this.#ports.database.run(HAS_ORGANIZATIONS);
    return row?.has_any as boolean;
  }

  /** Gives back charges in doubt and records the uses of keys still waiting. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelForget?.();
    this.#cancelUses?.();
    this.#cancelUses = undefined;
    await this.#charges.giveBack().catch(() => {});
    await this.#recordUses();
  }

  #holderOf({ id, organization, scopes, now_ms }: Row): KeyHolder | undefined {
    if (id === null || (!this.#isPlay && organization === DEMO_ORGANIZATION)) return undefined;
    const keyId = id as string;
    this.#noteUse(keyId, now_ms as number);
    return { keyId, organization: organization as string, scopes: storedScopes(scopes as string) };
  }

  async #change<T extends object>(
    organization: string,
    change: (counts: Row) => Promise<T | NotChanged>,
  ): Promise<T | NotChanged> {
    if (!this.#isPlay && organization === DEMO_ORGANIZATION) return PLAY_ONLY;
    try {
      const [counts] = await this.#ports.database.run({ ...COUNTS, values: [organization] });
      if (counts === undefined) throw new Error('no counts');
      const isNew = counts.is_known !== true;
      if (isNew && (counts.organizations as number) >= ORGANIZATION_COUNT_MAX) return FULL;
      return await change(counts);
    } catch (failure) {
      return unavailableOr(failure);
    }
  }

  #noteUse(id: string, nowMs: number): void {
    const minuteMs = minuteOf(nowMs);
    if ((this.#uses.get(id) ?? 0) >= minuteMs) return;
    this.#uses.set(id, minuteMs);
    if (this.#isClosed) return;
    this.#cancelUses ??= this.#ports.timers.after(USES_PAUSE_MS, () => {
      this.#cancelUses = undefined;
      void this.#recordUses();
    });
  }

  /** Uses that the database refuses are recorded with the next ones. */
  async #recordUses(): Promise<void> {
    const uses = [...this.#uses].sort(([a], [b]) => (a < b ? -1 : 1));
    for (let at = 0; at < uses.length; at += USE_COUNT_MAX) {
      const part = uses.slice(at, at + USE_COUNT_MAX);
      const values = [part.map(([id]) => id), part.map(([, atMs]) => atMs)];
      if (!(await this.#inBackground({ ...NOTE_USES, values }))) return;
      for (const [id, atMs] of part) if (this.#uses.get(id) === atMs) this.#uses.delete(id);
    }
  }

  #forgetLater(): void {
    if (this.#isClosed) return;
    this.#cancelForget = this.#ports.timers.after(FORGET_PAUSE_MS, async () => {
      const values = [this.#ports.clock.nowMs()];
      for (const statement of FORGET) if (!this.#isClosed) await this.#inBackground({ ...statement, values });
      this.#forgetLater();
    });
  }

  async #inBackground(statement: Statement): Promise<boolean> {
    try {
      await this.#ports.database.run(statement);
      return true;
    } catch (failure) {
      if (!this.#isClosed && this.#ports.database.fault() === undefined) this.#ports.onFailure(failure);
      return false;
    }
  }
}

/** @throws the failure, when it is no outage: a bug */
function unavailableOr(failure: unknown): { readonly kind: 'unavailable'; readonly detail: string } {
  if (!(failure instanceof OutageError)) throw failure;
  return { kind: 'unavailable', detail: failure.message };
}

function latest(recorded: number | null, noted: number | undefined): number | null {
  if (noted === undefined) return recorded;
  return recorded === null ? noted : Math.max(recorded, noted);
}
