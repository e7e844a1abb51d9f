/**
 * Where an operator's command works: on the folder of a state, on a database that servers share, or through the admin routes of a
 * running server.
 */
import { readFileSync } from 'node:fs';
import { messageOf } from '../base/failure.ts';
import { databaseAddress } from '../config/parsers.ts';
import { InvalidSettingError } from '../config/setting.ts';
import { IN_MEMORY } from '../config/settings.ts';
import { UsageError } from './command.ts';
import type { Io } from './io.ts';
import { credentialFrom, namedServer } from './server-address.ts';

/** The folder of a server that was started without STATE_DIR. */
const STATE_DIR_DEFAULT = '.state';

export const PLACE_OPTIONS = {
  'state-dir': {
    type: 'text',
    value: 'DIR',
    help: `folder of the state (default: the database of DATABASE_URL, or STATE_DIR, or ${STATE_DIR_DEFAULT})`,
  },
  url: {
    type: 'text',
    value: 'URL',
    help: 'address of a server to ask instead, with ADMIN_TOKEN (default PAYGRADE_URL)',
  },
  'admin-token-file': { type: 'text', value: 'FILE', help: 'file with the admin token, in place of ADMIN_TOKEN' },
} as const;

export type PlaceOptions = { readonly [K in keyof typeof PLACE_OPTIONS]: string | undefined };

export type Place =
  | { readonly kind: 'folder'; readonly stateDir: string }
  /** Other processes may use it at the same time. */
  | { readonly kind: 'database'; readonly url: string }
  /** `base`: without a trailing slash. */
  | { readonly kind: 'server'; readonly base: string; readonly token: string };

/** @throws UsageError */
export function placeOf(options: PlaceOptions, { env }: Pick<Io, 'env'>): Place {
  const { 'state-dir': folder, url, 'admin-token-file': tokenFile } = options;
  if (url !== undefined && folder !== undefined) throw new UsageError('--state-dir does not go with --url');
  const base = folder === undefined ? namedServer(url, env) : undefined;
  if (base !== undefined) return { kind: 'server', base, token: adminTokenOf(tokenFile, env) };
  if (tokenFile !== undefined) throw new UsageError('--admin-token-file goes with --url');
  if (folder === undefined && env.DATABASE_URL) return { kind: 'database', url: databaseUrlOf(env.DATABASE_URL) };
  const stateDir = folder ?? (env.STATE_DIR || STATE_DIR_DEFAULT);
  if (stateDir === IN_MEMORY) throw new UsageError('this state is in memory only: ask its server with --url');
  return { kind: 'folder', stateDir };
}

/** @throws UsageError without the text, which may hold a password */
function databaseUrlOf(text: string): string {
  try {
    return databaseAddress(text);
  } catch (failure) {
    if (failure instanceof InvalidSettingError) throw new UsageError(`DATABASE_URL must be ${failure.message}`);
    throw failure;
  }
}

/**
 * The token from a file or the environment: other users of the machine could see it on the command line. @throws UsageError
 */
export function adminTokenOf(file: string | undefined, env: Io['env']): string {
  const token = (file === undefined ? (env.ADMIN_TOKEN ?? '') : readText(file)).trim();
  if (token === '') throw new UsageError('the admin token is missing: set ADMIN_TOKEN, or --admin-token-file');
  return credentialFrom(token, 'admin token');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (failure) {
    throw new UsageError(`--admin-token-file cannot be read: ${messageOf(failure)}`);
  }
}
