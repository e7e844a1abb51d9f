/**
 * The networks that a server can sell on, each with its USDC (x402-v2 §4.1), and addresses on them. Each server sells on one
 * of them. The tests compare every value with the published vectors.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Brand } from '../../base/brand.ts';
import { encodeUtf8 } from '../../base/codec.ts';
import { memoizeRecent } from '../../base/memoize-recent.ts';

/** `0x` and 40 hex digits with the checksum of EIP-55. */
export type Address = Brand<string, 'Address'>;

/** An address of any case. */
export const ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/;

/** 32 bytes of any case: a nonce, or a transaction hash. */
export const BYTES32_FORM = /^0x[0-9a-fA-F]{64}$/;

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

/** CAIP-2 ids of the networks. */
export const NETWORK_IDS = ['eip155:8453', 'eip155:84532'] as const;
export type NetworkId = (typeof NETWORK_IDS)[number];

export interface Network {
  readonly id: NetworkId;
  /** Name for people. */
  readonly name: string;
  /** True: a test network, whose USDC is worth nothing. */
  readonly isTest: boolean;
  readonly usdc: Address;
  readonly usdcLower: string;
  /** Name and version in the EIP-712 domain of its USDC. */
  readonly usdcName: string;
  readonly usdcVersion: string;
}

const USDC_ON_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' as Address;
const USDC_ON_BASE_SEPOLIA = '0x036CbD53842c5426634e7929541eC2318f3dCF7e' as Address;

export const BASE: Network = {
  id: 'eip155:8453',
  name: 'Base',
  isTest: false,
  usdc: USDC_ON_BASE,
  usdcLower: USDC_ON_BASE.toLowerCase(),
  usdcName: 'USD Coin',
  usdcVersion: '2',
};

export const BASE_SEPOLIA: Network = {
  id: 'eip155:84532',
  name: 'Base Sepolia',
  isTest: true,
  usdc: USDC_ON_BASE_SEPOLIA,
  usdcLower: USDC_ON_BASE_SEPOLIA.toLowerCase(),
  usdcName: 'USDC',
  usdcVersion: '2',
};

const NETWORKS: Readonly<Record<NetworkId, Network>> = { 'eip155:8453': BASE, 'eip155:84532': BASE_SEPOLIA };

export const networkOf = (id: NetworkId): Network => NETWORKS[id];

/** The network of an id from outside; undefined for one that no server sells on. */
export const findNetwork = (id: string): Network | undefined =>
  Object.hasOwn(NETWORKS, id) ? NETWORKS[id as NetworkId] : undefined;

export const USDC_DECIMALS = 6;
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** `maxTimeoutSeconds` of every offer; clients sign `validBefore = now + maxTimeoutSeconds` (decisions §4). */
export const MAX_TIMEOUT_SECONDS = 120;
/** How far a client's clock may be ahead of ours, added to the timeout (decisions §4). */
const CLOCK_SKEW_SECONDS = 30;
/** No authorization that is accepted expires later than this from now. */
export const WINDOW_SECONDS_MAX = MAX_TIMEOUT_SECONDS + CLOCK_SKEW_SECONDS;
/** Time that an authorization must still be valid for when it arrives (decisions §4, x402-v2 §4.4 row 7). */
export const RUNWAY_SECONDS = 6;
