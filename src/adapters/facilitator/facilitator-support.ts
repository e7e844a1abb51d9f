/** What a facilitator's `/supported` says about the network, scheme and asset of this server (x402-v2 §2.9). */
import { printable } from '../../base/printable.ts';
import { type Network, SCHEME, X402_VERSION } from '../../payment/protocol/network.ts';

interface Kind {
  readonly x402Version?: unknown;
  readonly scheme?: unknown;
  readonly network?: unknown;
  readonly extra?: Readonly<Record<string, unknown>> | null;
}

/** Longest text from a facilitator that a message quotes. */
const SHOWN_LENGTH_MAX = 200;

/** Text of a JSON value; an object may have a `toString` that is no function. */
const textOf = (value: unknown): string => (value instanceof Object ? 'an object' : String(value));

const shown = (text: string): string => printable(text).slice(0, SHOWN_LENGTH_MAX);

/**
 * `none`     it does not settle the scheme on the network, and what it lists instead
 * `asset`    it settles another token there
 * `domain`   it settles USDC, and names another EIP-712 domain than payments are signed for
 * `unreadable` the answer is not that of a facilitator
 */
export type Support =
  | { readonly kind: 'supported' }
  | { readonly kind: 'unreadable' | 'none' | 'asset' | 'domain'; readonly words: string };

/** It refuses this server, or is not at the address. */
export interface Refusal {
  readonly kind: 'refused';
  readonly words: string;
}

/** @param fields the JSON object of the answer; undefined for another body */
export function supportOf(fields: Readonly<Record<string, unknown>> | undefined, network: Network): Support {
  const kinds = fields?.kinds;
  if (!Array.isArray(kinds)) {
    return { kind: 'unreadable', words: 'its /supported is not the answer of an x402 facilitator' };
  }
  const all = kinds.filter((kind): kind is Kind => typeof kind === 'object' && kind !== null);
  const ours = all.find(
    (kind) => kind.x402Version === X402_VERSION && kind.scheme === SCHEME && kind.network === network.id,
  );
  if (ours === undefined) {
    const listed = all.map((kind) => [kind.x402Version, kind.scheme, kind.network].map(textOf).join('/')).join(', ');
    const words = `it does not settle ${SCHEME} on ${network.id} (USDC on ${network.name}); it lists ${shown(listed) || 'nothing'}`;
    return { kind: 'none', words };
  }
  const { asset, name, version } = ours.extra ?? {};
  if (typeof asset === 'string' && asset.toLowerCase() !== network.usdcLower) {
    return { kind: 'asset', words: `it settles ${shown(asset)}, not USDC (${network.usdc})` };
  }
  const { usdcName, usdcVersion } = network;
  if ((name ?? usdcName) !== usdcName || (version ?? usdcVersion) !== usdcVersion) {
    const theirs = shown(`${textOf(name)} ${textOf(version)}`);
    return {
      kind: 'domain',
      words: `it names the token ${theirs}; payments are signed for ${usdcName} ${usdcVersion}`,
    };
  }
  return { kind: 'supported' };
}

export function refusalOf(status: 401 | 403 | 404): Refusal {
  const words =
    status === 404
      ? 'its /supported is not there (status 404); FACILITATOR_URL is the address above it'
      : `it refuses this server (status ${status}); set FACILITATOR_TOKEN to a token that it accepts`;
  return { kind: 'refused', words };
}
