/**
 * Organizations, keys and grants in the state file (siblings §3). Memory decides; a charge is recorded as what it took
 * from each grant, so changes refused in between leave no trace. Only the digest of a key is stored. Each row has a
 * checksum, which every change verifies and writes again.
 */
import { EMPTY_BALANCE, type OnboardingGrant } from '../../../accounts/balance.ts';
import { LAPSED_KEPT_MS } from '../../../accounts/limits.ts';
import { storedScopes } from '../../../accounts/scopes.ts';
import type { AccountChange, ChargeChange, LoadedAccounts, StoredKey } from '../../memory/accounts-journal.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection, Row } from '../connection.ts';
import type { Table } from './table.ts';

export const ACCOUNTS = 'accounts';

export type AccountOperation = { readonly table: typeof ACCOUNTS } & AccountChange;

/** `serial` of a key is the order of creation. Times are milliseconds since 1970. */
const SCHEMA = `
  CREATE TABLE organization (
    name TEXT PRIMARY KEY, month_ms INTEGER NOT NULL, charged INTEGER NOT NULL, subscription INTEGER NOT NULL,
    subscription_charged INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE onboarding (
    serial INTEGER PRIMARY KEY, organization TEXT NOT NULL, amount INTEGER NOT NULL, remaining INTEGER NOT NULL,
    expires_ms INTEGER, checksum INTEGER NOT NULL
  );
  CREATE TABLE api_key (
    serial INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, organization TEXT NOT NULL,
    scopes TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER, used_ms INTEGER, revoked_ms INTEGER,
    checksum INTEGER NOT NULL
  );
`;

/** Distinguishes null from 0. */
const fieldOf = (value: number | null): string => (value === null ? '' : String(value));

interface OrganizationRow {
  readonly name: string;
  readonly monthMs: number;
  readonly charged: number;
  readonly subscription: number;
  readonly subscriptionCharged: number;
}

const checksumOfOrganization = (row: OrganizationRow): number =>
  checksumOfFields(row.name, row.monthMs, row.charged, row.subscription, row.subscriptionCharged);

/** @throws DamagedError */
function organizationOf(row: Row): OrganizationRow {
  const organization = {
    name: row.name as string,
    monthMs: row.month_ms as number,
    charged: row.charged as number,
    subscription: row.subscription as number,
    subscriptionCharged: row.subscription_charged as number,
  };
  if (checksumOfOrganization(organization) !== row.checksum) {
    throw new DamagedError(`organization ${organization.name}`);
  }
  return organization;
}

function changeOrganization(
  connection: Connection,
  name: string,
  change: (before: OrganizationRow) => Partial<OrganizationRow>,
): void {
  const row = connection.row('SELECT * FROM organization WHERE name = ?', name);
  const before = row === undefined ? { name, ...EMPTY_BALANCE } : organizationOf(row);
  const after: OrganizationRow = { ...before, ...change(before) };
  connection.run(
    `INSERT OR REPLACE INTO organization (name, month_ms, charged, subscription, subscription_charged, checksum)
     VALUES (?, ?, ?, ?, ?, ?)`,
    name,
    after.monthMs,
    after.charged,
    after.subscription,
    after.subscriptionCharged,
    checksumOfOrganization(after),
  );
}

type GrantRow = OnboardingGrant & { readonly organization: string };

const checksumOfGrant = ({ serial, organization, amount, remaining, expiresAtMs }: GrantRow): number =>
  checksumOfFields(serial, organization, amount, remaining, fieldOf(expiresAtMs));

/** @throws DamagedError */
function grantOf(row: Row): GrantRow {
  const grant = {
    serial: row.serial as number,
    organization: row.organization as string,
    amount: row.amount as number,
    remaining: row.remaining as number,
    expiresAtMs: row.expires_ms as number | null,
  };
  if (checksumOfGrant(grant) !== row.checksum) throw new DamagedError(`grant ${grant.serial}`);
  return grant;
}

function writeGrant(connection: Connection, verb: 'INSERT' | 'REPLACE', grant: GrantRow): void {
  connection.run(
    `${verb} INTO onboarding (serial, organization, amount, remaining, expires_ms, checksum) VALUES (?, ?, ?, ?, ?, ?)`,
    grant.serial,
    grant.organization,
    grant.amount,
    grant.remaining,
    grant.expiresAtMs,
    checksumOfGrant(grant),
  );
}

/** Runs in the caller's transaction. */
export function applyCharge(connection: Connection, { organization, taken }: Omit<ChargeChange, 'kind'>): void {
  const { monthMs, amount, subscription, onboarding } = taken;
  changeOrganization(connection, organization, (before) => {
    const isSameMonth = before.monthMs === monthMs;
    return {
      monthMs,
      charged: amount + (isSameMonth ? before.charged : 0),
      subscriptionCharged: subscription + (isSameMonth ? before.subscriptionCharged : 0),
    };
  });
  for (const part of onboarding) {
    const row = connection.row('SELECT * FROM onboarding WHERE serial = ?', part.serial);
    if (row === undefined) throw new Error(`no grant ${part.serial}`);
    const grant = grantOf(row);
    writeGrant(connection, 'REPLACE', { ...grant, remaining: grant.remaining - part.amount });
  }
}

const checksumOfKey = (key: StoredKey, scopes: string): number =>
  checksumOfFields(
    key.id,
    key.digest,
    key.organization,
    scopes,
    key.createdAtMs,
    fieldOf(key.expiresAtMs),
    fieldOf(key.lastUsedAtMs),
    fieldOf(key.revokedAtMs),
  );

/** @throws DamagedError */
function keyOf(row: Row): StoredKey {
  const scopes = row.scopes as string;
  const key = {
    id: row.id as string,
    digest: new Uint8Array(row.digest as Uint8Array),
    organization: row.organization as string,
    scopes: storedScopes(scopes),
    createdAtMs: row.created_ms as number,
    expiresAtMs: row.expires_ms as number | null,
    lastUsedAtMs: row.used_ms as number | null,
    revokedAtMs: row.revoked_ms as number | null,
  };
  if (checksumOfKey(key, scopes) !== row.checksum) throw new DamagedError(`key ${key.id}`);
  return key;
}

function insertKey(connection: Connection, key: StoredKey): void {
  const scopes = key.scopes.join(' ');
  changeOrganization(connection, key.organization, () => ({}));
  connection.run(
    `INSERT INTO api_key (id, digest, organization, scopes, created_ms, expires_ms, used_ms, revoked_ms, checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.digest,
    key.organization,
    scopes,
    key.createdAtMs,
    key.expiresAtMs,
    key.lastUsedAtMs,
    key.revokedAtMs,
    checksumOfKey(key, scopes),
  );
}

function changeKey(
  connection: Connection,
  id: string,
  change: (before: StoredKey) => Partial<Pick<StoredKey, 'lastUsedAtMs' | 'revokedAtMs'>>,
): void {
  const row = connection.row('SELECT * FROM api_key WHERE id = ?', id);
  if (row === undefined) throw new Error(`no key ${id}`);
  const before = keyOf(row);
  const key = { ...before, ...change(before) };
  connection.run(
    'UPDATE api_key SET used_ms = ?, revoked_ms = ?, checksum = ? WHERE id = ?',
    key.lastUsedAtMs,
    key.revokedAtMs,
    checksumOfKey(key, row.scopes as string),
    id,
  );
}

export const accounts: Table<AccountOperation> = {
  name: ACCOUNTS,
  schema: SCHEMA,
  apply(connection, operation) {
    switch (operation.kind) {
      case 'key':
        insertKey(connection, operation.key);
        return;
      case 'revoke':
        changeKey(connection, operation.id, ({ revokedAtMs }) => ({ revokedAtMs: revokedAtMs ?? operation.atMs }));
        return;
      case 'onboarding':
        changeOrganization(connection, operation.organization, () => ({}));
        writeGrant(connection, 'INSERT', { ...operation.grant, organization: operation.organization });
        return;
      case 'subscription':
        changeOrganization(connection, operation.organization, () => ({ subscription: operation.amount }));
        return;
      case 'charge':
        applyCharge(connection, operation);
        return;
      case 'used':
        for (const { id, atMs } of operation.uses) changeKey(connection, id, () => ({ lastUsedAtMs: atMs }));
        return;
      default:
        operation satisfies never;
    }
  },
};

/** Loads all organizations, grants and keys. Removes onboarding grants that lapsed long ago. @throws DamagedError */
export function loadAccounts(connection: Connection, nowMs: number): LoadedAccounts {
  connection.run('DELETE FROM onboarding WHERE expires_ms <= ?', nowMs - LAPSED_KEPT_MS);
  const grants = new Map<string, OnboardingGrant[]>();
  for (const row of connection.all('SELECT * FROM onboarding ORDER BY serial')) {
    const { organization, ...grant } = grantOf(row);
    const ofOne = grants.get(organization);
    if (ofOne === undefined) grants.set(organization, [grant]);
    else ofOne.push(grant);
  }
  const organizations = connection.all('SELECT * FROM organization').map((row) => {
    const { name, ...balance } = organizationOf(row);
    const onboarding = grants.get(name) ?? [];
    grants.delete(name);
    return [name, { ...balance, onboarding }] as const;
  });
  const keys = connection.all('SELECT * FROM api_key ORDER BY serial').map(keyOf);
  const names = new Set(organizations.map(([name]) => name));
  const stray = [...grants.keys(), ...keys.map(({ organization }) => organization)].find((name) => !names.has(name));
  if (stray !== undefined) throw new DamagedError(`organization ${stray} is missing`);
  return { organizations, keys, damage: undefined };
}
