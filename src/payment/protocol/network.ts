/**
 * The one network and token of this server, USDC on Base (x402-v2 §4.1), and addresses on it. The tests compare every value
 * with the published vectors.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Brand } from '../../base/brand.ts';
import { encodeUtf8 } from '../../base/codec.ts';
import { memoizeRecent } from '../../base/memoize-recent.ts';

/** `0x` and 40 hex digits with the checksum of EIP-55. */
export type Address = Brand<string, 'Address'>;

const ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/;

/** An address of any case as `0x` and 40 lower-case hex digits, for comparison; undefined for any other text. */
export function lowerAddressOf(text: string): string | undefined {
  return ADDRESS_FORM.test(text) ? text.toLowerCase() : undefined;
}

function checksumOf(lowerAddress: string): Address {
  const digest = keccak_256(encodeUtf8(lowerAddress.slice(2)));
  let text = '0x';
  for (let i = 0; i < 40; i++) {
    const digit = lowerAddress[i + 2]!;
    const nibble = i % 2 === 0 ? digest[i >> 1]! >> 4 : digest[i >> 1]! & 15;
    text += nibble >= 8 ? digit.toUpperCase() : digit;
  }
  return text as Address;
}

/** Addresses memoized because payers come back; about 0.2 MB. */
const RECENT_COUNT_MAX = 1024;
const ADDRESS_LENGTH = 42;

/** Writes an address with its EIP-55 checksum: a letter is upper case where the digest of the address has a high nibble. */
export const checksummed: (lowerAddress: string) => Address = memoizeRecent(
  checksumOf,
  RECENT_COUNT_MAX,
  ADDRESS_LENGTH,
);

/** Parses an operator's address: one case throughout, or mixed case with a correct checksum; otherwise undefined. */
export function parseAddress(text: string): Address | undefined {
  const lower = lowerAddressOf(text);
  if (lower === undefined) return undefined;
  const address = checksummed(lower);
  const digits = text.slice(2);
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isOneCase || text === address ? address : undefined;
}

export const X402_VERSION = 2;
export const SCHEME = 'exact';
/** CAIP-2. */
export const NETWORK = 'eip155:8453';
export const CHAIN_ID = 8453n;
export const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' as Address;
export const USDC_LOWER = USDC.toLowerCase();
/** Name in the token's EIP-712 domain. It is not `USDC`, which is the name on the test network. */
export const USDC_NAME = 'USD Coin';
export const USDC_DOMAIN_VERSION = '2';
export const USDC_DECIMALS = 6;
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** `maxTimeoutSeconds` of every offer; clients sign `validBefore = now + maxTimeoutSeconds` (decisions §4). */
export const MAX_TIMEOUT_SECONDS = 120;
/** How far a client's clock may be ahead of ours, added to the timeout (decisions §4). */
export const CLOCK_SKEW_SECONDS = 30;
/** Time that an authorization must still be valid for when it arrives (decisions §4, x402-v2 §4.4 row 7). */
export const RUNWAY_SECONDS = 6;
