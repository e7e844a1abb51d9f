/**
 * Whom to count as one client: an IPv4 address; of an IPv6 address the first 64 bits, since whoever has one address of a
 * /64 has all of them (RFC 4291 §2.5.1). An IPv4 address in IPv6 clothes is that IPv4 address. Text of any other form (a
 * proxy's word, or the empty string where nobody is known) stands for itself.
 */
const NETWORK_GROUPS = 4;
const GROUP_COUNT = 8;
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

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
    // An embedded IPv4 address at the end stands for two groups; it is never among the first four.
    const behindCount = behind.length + (behind.at(-1)?.includes('.') ? 1 : 0);
    for (let missing = GROUP_COUNT - groups.length - behindCount; missing > 0; missing--) groups.push('0');
    groups.push(...behind);
  }
  if (groups.length < NETWORK_GROUPS) return address;
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
