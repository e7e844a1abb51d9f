/** The server that a command asks, by option or environment, and what it sends there as a credential. */
import { type TextOption, UsageError } from './command.ts';
import type { Io } from './io.ts';

const DEFAULT_URL = 'http://127.0.0.1:8402';

export const URL_OPTION = {
  type: 'text',
  value: 'URL',
  help: `address of the server (default PAYGRADE_URL, else ${DEFAULT_URL})`,
} as const satisfies TextOption;

/** The address without a trailing slash. @param name of the option or variable that gives it @throws UsageError */
function baseOf(text: string, name = '--url'): string {
  const url = URL.parse(text);
  // fetch accepts no address with a password, and its error message would print it. Paths are added to the address.
  const isBare = url !== null && [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name} must be an address such as ${DEFAULT_URL}`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The address that the option or PAYGRADE_URL names, without a trailing slash. @throws UsageError */
export function namedServer(given: string | undefined, env: Io['env']): string | undefined {
  if (given !== undefined) return baseOf(given);
  return env.PAYGRADE_URL ? baseOf(env.PAYGRADE_URL, 'PAYGRADE_URL') : undefined;
}

/** As {@link namedServer}, or the address of a server on this machine with default settings. @throws UsageError */
export const serverOf = (given: string | undefined, env: Io['env']): string => namedServer(given, env) ?? DEFAULT_URL;

/**
 * A credential that a header accepts. For any other, the runtime's error may repeat its text and would look like a
 * fault of the server.
 * @throws UsageError without the text
 */
export function credentialFrom(text: string, name: string): string {
  const credential = text.trim();
  if (!/^[!-~]+$/.test(credential)) throw new UsageError(`the ${name} must be visible ASCII without blanks`);
  return credential;
}
