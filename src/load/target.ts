/**
 * The server under load: where it is, and whether it may be put under load at all. The name is resolved once, every
 * address it has is judged, and connections go to a judged address: no second resolution can lead anywhere else.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';

/** The server cannot be put under load, or not be reached; the message is one line. */
export class LoadError extends Error {}

/** The address was given wrongly, or is somebody else's; the message is one line. */
export class TargetError extends Error {}

export interface Target {
  /** As it is shown: scheme, host and port. */
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

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** 127.0.0.0/8 and ::1, also as an IPv4-mapped IPv6 address. */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** @throws TargetError */
export function parseTarget(text: string): Target {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TargetError('URL must be an address such as http://127.0.0.1:8402');
  }
  if (url.username !== '' || url.password !== '') throw new TargetError('URL must not hold a user or a password');
  if (url.search !== '' || url.hash !== '') throw new TargetError('URL must not have a query or a fragment');
  const isSecure = url.protocol === 'https:';
  return {
    origin: url.origin,
    isSecure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    hostHeader: url.host,
    basePath: url.pathname.replace(/\/+$/, ''),
  };
}

/**
 * Every address of the target, in the resolver's order, none twice.
 * @param isOwn the caller has said that the server is theirs; otherwise each address must be loopback
 * @throws TargetError for one that is not, LoadError for a name that nobody knows
 */
export async function addressesOf({ hostname, origin }: Target, isOwn: boolean): Promise<readonly string[]> {
  let addresses: string[];
  try {
    addresses = isIP(hostname) ? [hostname] : (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (failure) {
    throw new LoadError(`no address is known for ${hostname} (${(failure as NodeJS.ErrnoException).code})`);
  }
  const foreign = addresses.find((address) => !isLoopback(address));
  if (foreign !== undefined && !isOwn) {
    const means = foreign === hostname ? '' : `, which is ${foreign},`;
    throw new TargetError(`${origin}${means} is not this machine: --i-own-this-server says that you may load it`);
  }
  return [...new Set(addresses)];
}
