/**
 * `TARGET_ALLOW` (siblings §5): addresses that may be reached although they are not public. An entry `host:port` is compared
 * with host and port of the URL, an entry `cidr:port` with the addresses that the host resolved to.
 */
import { commaList } from '../base/comma-list.ts';
import { type IpAddress, type IpRange, isInRange, parseIpRange } from '../base/ip-address.ts';
import { hostPortOf } from '../base/parsed-url.ts';

export interface TargetAllow {
  /** Entries `host:port`, the host normalized as by `URL`. */
  readonly hosts: ReadonlySet<string>;
  readonly ranges: readonly { readonly range: IpRange; readonly port: number }[];
}

const PORT_MAX = 65_535;

/** `name:1`, `1.2.3.4/8:1`, `[::1]:1` or `[::1]/128:1`: the host with or without brackets, the prefix length, the port. */
const ENTRY = /^(?:\[([0-9a-f:.]+)\]|([^/:[\]@?#\s]+))(\/[0-9]{1,3})?:([1-9][0-9]{0,4})$/i;

function parseEntry(entry: string): { host: string } | { range: IpRange; port: number } | undefined {
  const [, bracketed, plain, length, digits] = ENTRY.exec(entry) ?? [];
  const port = Number(digits);
  const host = bracketed ?? plain;
  if (host === undefined || !(port <= PORT_MAX)) return undefined;
  if (length !== undefined) {
    const range = parseIpRange(`${host}${length}`);
    return range === undefined || (range.family === 6) !== (bracketed !== undefined) ? undefined : { range, port };
  }
  const text = `http://${bracketed === undefined ? host : `[${host}]`}:${port}`;
  return URL.canParse(text) ? { host: hostPortOf(new URL(text)) } : undefined;
}

/** An empty text lists nothing. @returns the table, or the first malformed entry */
export function parseTargetAllow(
  text: string,
): { readonly ok: true; readonly allow: TargetAllow } | { readonly ok: false; readonly entry: string } {
  const hosts = new Set<string>();
  const ranges: { range: IpRange; port: number }[] = [];
  for (const entry of commaList(text)) {
    const parsed = parseEntry(entry);
    if (parsed === undefined) return { ok: false, entry };
    if ('host' in parsed) hosts.add(parsed.host);
    else ranges.push(parsed);
  }
  return { ok: true, allow: { hosts, ranges } };
}

export const isHostListed = ({ hosts }: TargetAllow, url: URL): boolean => hosts.has(hostPortOf(url));

export const isAddressListed = ({ ranges }: TargetAllow, ip: IpAddress, port: number): boolean =>
  ranges.some((entry) => entry.port === port && isInRange(ip, entry.range));

/** Whether an entry `cidr:port` has this port, so that the addresses of a name may be listed. */
export const isPortListed = ({ ranges }: TargetAllow, port: number): boolean =>
  ranges.some((entry) => entry.port === port);
