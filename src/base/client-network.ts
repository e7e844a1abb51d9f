/** A /64 in groups of 16 bits. */
const NETWORK_GROUPS = 4;
const GROUP_COUNT = 8;
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/**
 * The network that counts as one client: an IPv4 address; the /64 of an IPv6 address, because a host that has one address
 * of a /64 can use all of them (RFC 4291 §2.5.1). An IPv4-mapped IPv6 address counts as its IPv4 address. Text of any other
 * form (a proxy's own name for a client, or the empty string for an unknown one) is returned as it is.
 */
export function clientNetworkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = MAPPED.exec(address);
  if (mapped !== null) return mapped[1] as string;
  const zone = address.indexOf('%');
  const [front = '', back, ...more] = (zone < 0 ? address : address.slice(0, zone)).toLowerCase().split('::');
  if (more.length > 0) return address;
  const groups = front === '' ? [] : front.split(':');
  if (back !== undefined) {
    const behind = back === '' ? [] : back.split(':');
    // An embedded IPv4 address at the end takes two groups, and never one of the first four.
    const behindCount = behind.length + (behind.at(-1)?.includes('.') ? 1 : 0);
    for (let missing = GROUP_COUNT - groups.length - behindCount; missing > 0; missing--) groups.push('0');
    groups.push(...behind);
  }
  if (groups.length < NETWORK_GROUPS) return address;
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
