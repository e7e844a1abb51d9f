/** The rules about a target that need no look-up (siblings §5), in the order in which they are applied. */
import type { IpAddress } from '../base/ip-address.ts';
import { TARGET_LENGTH_MAX } from './limits.ts';
import type { Purpose } from './target.ts';

const PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

export interface Candidate {
  readonly url: URL;
  /** The name in lower case without the dot at its end, or the literal as `URL` writes it. */
  readonly host: string;
  /** undefined: the host is a name. */
  readonly ip: IpAddress | undefined;
  readonly port: number;
  readonly purpose: Purpose;
}

interface Rule<Judged> {
  readonly name: string;
  readonly reason: string;
  readonly refuses: (judged: Judged) => boolean;
}

type TextRule = Rule<string>;
type TargetRule = Rule<Candidate>;

/** Applied before the address is parsed, because `URL` removes or repairs what these refuse. */
const TEXT_RULES: readonly TextRule[] = [
  {
    name: 'length',
    reason: `the address is longer than ${TARGET_LENGTH_MAX} characters`,
    refuses: (text) => text.length > TARGET_LENGTH_MAX,
  },
  {
    name: 'well-formed',
    reason: 'the address has half of a surrogate pair, which is no character',
    refuses: (text) => !text.isWellFormed(),
  },
  {
    name: 'characters',
    reason: 'the address has a blank, a control character or a backslash',
    refuses: (text) => /[\u0000-\u0020\u007f-\u00a0\\]/.test(text),
  },
  {
    name: 'form',
    reason: 'the address is not scheme, ://, host and path',
    refuses: (text) => !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text),
  },
  {
    name: 'user-info',
    reason: 'the address has a user or an empty one before its host',
    refuses: (text) => /^[^/?#]*\/\/[^/?#]*@/.test(text),
  },
];

/** Apply to every target. */
const EVERY_TARGET: readonly TargetRule[] = [
  {
    name: 'scheme',
    reason: 'the scheme is neither http nor https',
    refuses: ({ url }) => url.protocol !== 'http:' && url.protocol !== 'https:',
  },
  {
    name: 'host-form',
    reason: 'the host is not a domain name of letters, digits and hyphens',
    refuses: ({ host, ip }) => ip === undefined && !isDomainName(host),
  },
];

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NAME_LENGTH_MAX = 253;

/** RFC 1123 §2.1 in lower case, and the underscore that many host names have. */
const isDomainName = (host: string): boolean =>
  host.length <= NAME_LENGTH_MAX && host.split('.').every((label) => LABEL.test(label));

const isBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

const reservedName = (domain: string, source: string): TargetRule => ({
  name: `name-${domain}`,
  reason: `names under ${domain} are not public (${source})`,
  refuses: ({ host }) => isBelow(host, domain),
});

/** Apply to targets that TARGET_ALLOW does not list. */
const PUBLIC_TARGET: readonly TargetRule[] = [
  {
    name: 'https-only',
    reason: 'the scheme is not https',
    refuses: ({ url, purpose }) => purpose !== 'resolve' && url.protocol !== 'https:',
  },
  {
    name: 'port',
    reason: `the port is none of ${[...PORTS].join(', ')}`,
    refuses: ({ port }) => !PORTS.has(port),
  },
  reservedName('localhost', 'RFC 6761 §6.3'),
  reservedName('local', 'RFC 6762 §3'),
  reservedName('internal', 'ICANN resolution 2024.07.29.06'),
  {
    name: 'single-label',
    reason: 'the host is a name without a dot',
    refuses: ({ host, ip }) => ip === undefined && !host.includes('.'),
  },
];

export interface TargetRules {
  readonly text: readonly TextRule[];
  readonly everyTarget: readonly TargetRule[];
  readonly publicTarget: readonly TargetRule[];
}

export const TARGET_RULES: TargetRules = {
  text: TEXT_RULES,
  everyTarget: EVERY_TARGET,
  publicTarget: PUBLIC_TARGET,
};
