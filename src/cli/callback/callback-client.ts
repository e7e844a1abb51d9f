/** What the `callback` commands share: their options, and how they name a callback. */
import { type TextOption, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { credentialFrom, namedServer, serverOf, URL_OPTION } from '../server-address.ts';

export const url = URL_OPTION;
export const token: TextOption = {
  type: 'text',
  value: 'TOKEN',
  help: 'read token; READ_TOKEN in the environment hides it from other users',
};
export const json = { type: 'flag', help: 'JSON on stdout, one object per line' } as const;
export const ID = { name: 'CALLBACK', help: 'id of the callback, cb_…, or its URL', count: 'one' } as const;

/** @throws UsageError when neither the option nor READ_TOKEN gives a token */
export function tokenOf(given: string | undefined, io: Io): string {
  const found = given ?? io.env.READ_TOKEN;
  if (found === undefined || found === '')
    throw new UsageError('the read token is missing: set READ_TOKEN, or --token');
  return credentialFrom(found, 'read token');
}

/** A callback as the command line names it. */
export interface NamedCallback {
  /** Address of the server, without a trailing slash. */
  readonly base: string;
  readonly id: string;
  /** Address of the callback's own routes, without a trailing slash. */
  readonly own: string;
}

/** The address of a webhook, `{base}/hooks/{id}`. */
const HOOK_URL = /^(https?:\/\/[^?#]*?)\/hooks\/([^/?#]+)\/?(?:[?#].*)?$/i;

/**
 * The callback named by an id or URL. Its server is that of --url or PAYGRADE_URL, else that of the URL.
 * @throws UsageError
 */
export function callbackOf(named: string, url: string | undefined, env: Io['env']): NamedCallback {
  const [, host, idOfUrl] = HOOK_URL.exec(named) ?? [];
  if (/^https?:/i.test(named) && (idOfUrl === undefined || !URL.canParse(named))) {
    throw new UsageError(`${ID.name} must be an id such as cb_… or a callback's URL, which ends in /hooks/cb_…`);
  }
  const base = host === undefined ? serverOf(url, env) : (namedServer(url, env) ?? host);
  const id = idOfUrl ?? named;
  return { base, id, own: `${base}/v1/callbacks/${encodeURIComponent(id)}` };
}
