/** The addresses on which this process can be reached at the port that it listens on. */
import { networkInterfaces } from 'node:os';
import { type IpRange, parseIp, parseIpRange } from '../../base/ip-address.ts';

/** Every loopback address, and the wildcards that lead to this machine. */
const HERE = ['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128'];

function rangesOf(addresses: readonly string[]): readonly IpRange[] {
  return addresses.flatMap((address) => {
    const ip = parseIp(address.replace(/%.*$/, ''));
    return ip === undefined ? [] : [{ ...ip, length: ip.family === 4 ? 32 : 128 }];
  });
}

const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((ones) => (ones ?? []).map(({ address }) => address));

/** @param host HOST: an address, the wildcard address, or a name, which counts as the wildcard */
export function listeningRanges(host: string): readonly IpRange[] {
  const isOne = (parseIp(host)?.bits ?? 0n) !== 0n;
  return [...HERE.flatMap((cidr) => parseIpRange(cidr) ?? []), ...rangesOf(isOne ? [host] : interfaceAddresses())];
}
