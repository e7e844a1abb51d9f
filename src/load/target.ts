/**
 * The server under load: its address, and whether a load test may use it. `addressesOf` resolves the name once and checks every
 * address; connections go to a checked address, so no second resolution can lead elsewhere.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { errorCodeOf } from '../base/failure.ts';
import { bareHostOf, isLoopback } from '../base/ip-address.ts';
import { portOf } from '../base/parsed-url.ts';

/** The server cannot be reached or put under load; the message is one line. */
export class LoadError extends Error {}

/** The address is malformed, or not allowed without the owner's word; the message is one line. */
export class TargetError extends Error {}

export interface Target {
  /** Scheme, host and port, for messages. */
  readonly origin: string;
  readonly isSecure: boolean;
  /** Without the brackets of IPv6. */
  readonly hostname: string;
  readonly port: number;
  /** Value of `Host`. */
  readonly hostHeader: string;
  /** Path prefix of every request, no trailing slash; empty for none. */
  readonly basePath: string;
}

/** @throws TargetError */
export function parseTarget(text: string): Target {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TargetError('URL must be an address such as http://127.0.0.1:8402');
  }
  if (url.username !== '' || url.password !== '') throw new TargetError('URL must not hold a user or a password');
  if (url.search !== '' || url.hash !== '') throw new TargetError('URL must not have a query or a fragment');
  return {
    origin: url.origin,
    isSecure: url.protocol === 'https:',
    hostname: bareHostOf(url.hostname),
    port: portOf(url),
    hostHeader: url.host,
    basePath: url.pathname.replace(/\/+$/, ''),
  };
}

/**
 * Every address of the target, in the resolver's order, without repeats.
 * @param isOwn the user states that the server is theirs; otherwise each address must be loopback
 * @throws TargetError for another address, LoadError for an unknown name
 */
export async function addressesOf({ hostname, origin }: Target, isOwn: boolean): Promise<readonly string[]> {
  let addresses: string[];
  try {
    addresses = isIP(hostname) ? [hostname] : (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (failure) {
    throw new LoadError(`no address is known for ${hostname} (${errorCodeOf(failure)})`);
  }
  const foreign = addresses.find((address) => !isLoopback(address));
  if (foreign !== undefined && !isOwn) {
    const means = foreign === hostname ? '' : `, which is ${foreign},`;
    throw new TargetError(`${origin}${means} is not this machine: --i-own-this-server says that you may load it`);
  }
  return [...new Set(addresses)];
}
