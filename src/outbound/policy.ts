/**
 * The policy of outbound requests (siblings §5): judges an address before a look-up, and the addresses that a name resolved
 * to. It does no I/O: its verdicts follow only from its rules, the settings and its arguments.
 */
import { type IpAddress, type IpRange, isInRange, literalOf, parseIp } from '../base/ip-address.ts';
import { hostPortOf, parseUrl, portOf } from '../base/parsed-url.ts';
import { ADDRESS_RULES, AddressJudge, type AddressRefusal, type AddressRules, unmapped } from './address-rules.ts';
import type { Judged, Purpose, RefusedTarget, Target, TargetPolicy } from './target.ts';
import { isAddressListed, isHostListed, isPortListed, type TargetAllow } from './target-allow.ts';
import { type Candidate, TARGET_RULES, type TargetRules } from './target-rules.ts';

/** This server's own addresses: only webhook addresses below `hookBaseUrl` may be targets. */
export interface OwnAddresses {
  /** Addresses of the surfaces, and `HOOK_BASE_URL`. No trailing slash. */
  readonly urls: readonly string[];
  readonly hookBaseUrl: string;
  /** The addresses and the port that it listens on. */
  readonly listening: { readonly ranges: readonly IpRange[]; readonly port: number };
}

export interface PolicyOptions {
  readonly own: OwnAddresses;
  readonly allow: TargetAllow;
  /** For tests: with any one rule removed, a test must fail. */
  readonly rules?: TargetRules & AddressRules;
}

export type JudgedAddresses = { readonly ok: true } | RefusedTarget;

const refused = (rule: string, reason: string): RefusedTarget => ({ ok: false, rule, reason });

const OWN = refused('own-address', 'the address is one of this server');
const NOT_LISTED = refused('not-listed', 'TARGET_ALLOW has this port for other addresses only');
const MALFORMED = refused('form', 'the address cannot be read');

/** Names of the rules that are not address ranges. */
export const RULE_NAMES: readonly string[] = [
  ...[...TARGET_RULES.text, ...TARGET_RULES.everyTarget].map(({ name }) => name),
  ...[OWN, ...TARGET_RULES.publicTarget.map(({ name }) => ({ rule: name })), NOT_LISTED].flatMap(
    ({ rule }) => rule ?? [],
  ),
];

/** Ports 80 and 443 count as one: a proxy redirects one to the other. */
function ownHostPorts(urls: readonly string[]): ReadonlySet<string> {
  const own = new Set<string>();
  for (const text of urls) {
    const url = new URL(text);
    const host = url.hostname.replace(/\.$/, '');
    for (const port of url.port === '' ? [80, 443] : [portOf(url)]) own.add(`${host}:${port}`);
  }
  return own;
}

export class OutboundPolicy implements TargetPolicy {
  readonly #options: PolicyOptions;
  readonly #rules: TargetRules;
  readonly #addresses: AddressJudge;
  readonly #own: ReadonlySet<string>;
  readonly #hookOrigin: string;
  readonly #hookPath: string;

  constructor(options: PolicyOptions) {
    const { own, rules = { ...TARGET_RULES, ...ADDRESS_RULES } } = options;
    this.#options = options;
    this.#rules = rules;
    this.#addresses = new AddressJudge(rules);
    this.#own = ownHostPorts([...own.urls, own.hookBaseUrl]);
    const hook = new URL(own.hookBaseUrl);
    hook.hostname = hook.hostname.replace(/\.$/, '');
    this.#hookOrigin = hook.origin;
    this.#hookPath = `${hook.pathname.replace(/\/$/, '')}/hooks/`;
  }

  judge(text: string, purpose: Purpose): Judged {
    for (const { name, reason, refuses } of this.#rules.text) if (refuses(text)) return refused(name, reason);
    const url = parseUrl(text);
    if (url === null) return MALFORMED;
    url.hash = '';
    const host = url.hostname.replace(/\.$/, '');
    if (host !== url.hostname) url.hostname = host;
    return this.#judgeParsed({ url, host, ip: literalOf(host), port: portOf(url), purpose });
  }

  #judgeParsed(candidate: Candidate): Judged {
    const { url, ip, port } = candidate;
    const { allow } = this.#options;
    for (const { name, reason, refuses } of this.#rules.everyTarget) {
      if (refuses(candidate)) return refused(name, reason);
    }
    if (this.#isOwnHook(url)) return { ok: true, target: { url, isOwnHook: true } };
    if (this.#own.has(hostPortOf(url)) || (ip !== undefined && this.#isListening(ip, port))) return OWN;
    if (isHostListed(allow, url)) return { ok: true, target: { url, isOwnHook: false, mayResolveTo: 'any' } };
    if (ip !== undefined && isAddressListed(allow, unmapped(ip), port)) {
      return { ok: true, target: { url, isOwnHook: false, mayResolveTo: 'listed' } };
    }
    for (const { name, reason, refuses } of this.#rules.publicTarget) {
      if (!refuses(candidate)) continue;
      // A range of TARGET_ALLOW may still contain the addresses of the name.
      if (ip !== undefined || !isPortListed(allow, port)) return refused(name, reason);
      return { ok: true, target: { url, isOwnHook: false, mayResolveTo: 'listed' } };
    }
    const refusal = ip === undefined ? undefined : this.#addresses.refusalOf(ip);
    return refusal === undefined ? { ok: true, target: { url, isOwnHook: false } } : this.#notPublic(refusal);
  }

  /**
   * Judges every address that a target's host resolved to; if one is refused, all are.
   * @param addresses as a resolver gives them; the literal itself if the host is one
   */
  judgeAddresses(target: Target, addresses: readonly string[]): JudgedAddresses {
    for (const text of addresses) {
      const ip = parseIp(text);
      if (ip === undefined) return refused('form', 'the host resolves to what is no address');
      const judged = this.#judgeAddress(target, ip);
      if (!judged.ok) return judged;
    }
    return { ok: true };
  }

  #judgeAddress({ url, mayResolveTo }: Target, ip: IpAddress): JudgedAddresses {
    const port = portOf(url);
    if (this.#isListening(ip, port)) return OWN;
    if (mayResolveTo === 'any' || isAddressListed(this.#options.allow, unmapped(ip), port)) return { ok: true };
    const refusal = this.#addresses.refusalOf(ip);
    if (refusal !== undefined) return this.#notPublic(refusal);
    return mayResolveTo === 'listed' ? NOT_LISTED : { ok: true };
  }

  #isListening(ip: IpAddress, port: number): boolean {
    const { ranges, port: own } = this.#options.own.listening;
    return port === own && this.#addresses.meantBy(ip).some((one) => ranges.some((range) => isInRange(one, range)));
  }

  #isOwnHook(url: URL): boolean {
    return url.origin === this.#hookOrigin && url.pathname.startsWith(this.#hookPath);
  }

  #notPublic({ rule, reason }: AddressRefusal): RefusedTarget {
    return refused(rule, `the address is not public: ${reason}`);
  }
}
