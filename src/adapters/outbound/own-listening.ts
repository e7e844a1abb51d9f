/** The addresses on which this process can be reached at the port that it listens on. */
import { networkInterfaces } from 'node:os';
import { type IpRange, parseIp, parseIpRange } from '../../base/ip-address.ts';

/** Every address of the machine, and what leads to it. */
const HERE = ['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128'];

const rangeOf = (address: string): IpRange[] => {
  const ip = parseIp(address.replace(/%.*$/, ''));
  return ip === undefined ? [] : [{ ...ip, length: ip.family === 4 ? 32 : 128 }];
};

/** @param host HOST. One address refuses that address, and those that mean this machine; all of them every interface's. */
export function listeningRanges(host: string): readonly IpRange[] {
  const isOne = parseIp(host) !== undefined && host !== '0.0.0.0' && parseIp(host)?.bits !== 0n;
  const interfaces = Object.values(networkInterfaces()).flatMap((ones) => (ones ?? []).map(({ address }) => address));
  return [...HERE.flatMap((cidr) => parseIpRange(cidr) ?? []), ...(isOne ? [host] : interfaces).flatMap(rangeOf)];
}
