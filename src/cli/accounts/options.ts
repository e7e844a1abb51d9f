/** What the commands about keys and credits share: their options, and which accounts they work on. */
import { isKeyId, KEY_ID_RULE } from '../../accounts/key.ts';
import { isOrganizationName, NAME_RULE } from '../../accounts/organization.ts';
import { parseScope, SCOPES, type Scope } from '../../accounts/scopes.ts';
import { parseDateTime } from '../../base/date-time.ts';
import { quoted, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { PLACE_OPTIONS, type PlaceOptions, placeOf } from '../state-place.ts';
import { inDatabase } from './database-accounts.ts';
import { inFolder } from './folder-accounts.ts';
import type { OperatorAccounts } from './operator-accounts.ts';
import { accountsOfServer } from './server-accounts.ts';

export const ACCOUNT_OPTIONS = {
  ...PLACE_OPTIONS,
  json: { type: 'flag', help: 'JSON on stdout, as the admin routes answer' },
} as const;

export const ORGANIZATION_OPTION = {
  type: 'text',
  value: 'NAME',
  help: `name of the organization, ${NAME_RULE}`,
} as const;
export const EXPIRES_OPTION = { type: 'text', value: 'TIME', help: 'RFC 3339, or a date (its midnight UTC)' } as const;

export const PLACE_NOTE =
  'A state folder is used only while no server runs on it; a running server is asked with --url and ADMIN_TOKEN. The database of DATABASE_URL is used beside servers.';

/** @throws UsageError */
export function organizationOf(text: string): string {
  if (isOrganizationName(text)) return text;
  throw new UsageError(`--org must be ${NAME_RULE}`);
}

/** @throws UsageError */
export function scopesOf(text: string): readonly Scope[] {
  const words = text.split(',').map((word) => word.trim());
  const scopes = words.map((word) => {
    const scope = parseScope(word);
    if (scope === undefined)
      throw new UsageError(`--scopes: ${quoted(word)} is no scope; the scopes are ${SCOPES.join(', ')}`);
    return scope;
  });
  if (new Set(scopes).size < scopes.length) throw new UsageError('--scopes names a scope twice');
  return scopes;
}

/** @returns null when the option is not given @throws UsageError */
export function expiryOf(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const timeMs = parseDateTime(text);
  if (timeMs === undefined) throw new UsageError('--expires must be an RFC 3339 date-time, or a date');
  if (timeMs <= nowMs) throw new UsageError('--expires must be a time to come');
  return timeMs;
}

/** @throws UsageError */
export function keyIdOf(text: string): string {
  if (isKeyId(text)) return text;
  throw new UsageError(`KEY_ID must be ${KEY_ID_RULE}; \`keys list\` shows them`);
}

/**
 * Works on the accounts that the options name.
 * @param mayMake whether to create a state folder, or tables, that no server has used yet
 * @throws UsageError, CommandError
 */
export function withAccounts<T>(
  options: PlaceOptions,
  io: Io,
  work: (accounts: OperatorAccounts) => Promise<T>,
  { mayMake = false } = {},
): Promise<T> {
  const place = placeOf(options, io);
  switch (place.kind) {
    case 'server':
      return work(accountsOfServer(place.base, place.token, fetch));
    case 'database':
      return inDatabase(place.url, mayMake, io.clock, work);
    case 'folder':
      return inFolder(place.stateDir, mayMake, io.clock, work);
    default:
      return place satisfies never;
  }
}

export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
