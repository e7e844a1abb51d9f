/**
 * EIP-712 struct and digest of an EIP-3009 `TransferWithAuthorization` for USDC (x402-v2 §4.2). The network's domain separator
 * precedes the struct, so the worker that recovers the signature need not know the network. The constant hashes are written
 * out, because the first keccaks after a start take milliseconds; tests compute them with viem. A struct is decoded from one
 * hex text. Its digest takes two keccaks, which are not cheap, so the worker computes it.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { decodeDigits } from '../../base/codec.ts';
import type { Keccak256 } from '../signature/signature.ts';
import type { Network, NetworkId } from './network.ts';

/** The signed message. Addresses and nonce are `0x` and hex of the right length, any case; numbers are uint256. */
export interface TransferMessage {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
}

const WORD_BYTES = 32;

/** @throws Error when the value is not a uint256 */
function uintDigits(value: bigint): string {
  const digits = value.toString(16).padStart(2 * WORD_BYTES, '0');
  if (digits.length !== 2 * WORD_BYTES) throw new Error('not a uint256');
  return digits;
}

/** @throws Error when the text does not have the length of `byteCount` bytes; {@link bytesOf} checks the digits */
function hexDigits(hex: string, byteCount: number): string {
  if (hex.length !== 2 + 2 * byteCount) throw new Error(`not hex of ${byteCount} bytes`);
  return hex.slice(2);
}

const ADDRESS_PADDING = '0'.repeat(24);

function bytesOf(digits: string): Uint8Array {
  const bytes = decodeDigits(digits);
  if (bytes === undefined) throw new Error('not hex');
  return bytes;
}

/** `DOMAIN_SEPARATOR()` of each network's token contract: the hash of name, version, chain and contract. */
const SEPARATOR_DIGITS = {
  'eip155:8453': '02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  'eip155:84532': '71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
} as const satisfies Record<NetworkId, string>;

/**
 * Hash of `TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32
 * nonce)`, `TRANSFER_WITH_AUTHORIZATION_TYPEHASH` of EIP-3009.
 */
const TYPE_HASH_DIGITS = '7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267';

/** Domain separator, type hash and six fields, a word each. */
export const STRUCT_BYTES = 8 * WORD_BYTES;

/**
 * Encodes the struct, preceded by its network's domain separator: {@link STRUCT_BYTES} bytes, addresses right-aligned in their
 * words. The bytes belong to the caller, who must not transfer their buffer: it may be shared with other bytes.
 * @throws Error when a field does not have its declared form, which is a bug in the caller
 */
export function structOf(message: TransferMessage, { id }: Network): Uint8Array {
  return bytesOf(
    SEPARATOR_DIGITS[id] +
      TYPE_HASH_DIGITS +
      ADDRESS_PADDING +
      hexDigits(message.from, 20) +
      ADDRESS_PADDING +
      hexDigits(message.to, 20) +
      uintDigits(message.value) +
      uintDigits(message.validAfter) +
      uintDigits(message.validBefore) +
      hexDigits(message.nonce, 32),
  );
}

/** Scratch: 0x19 0x01, domain separator, struct hash. Overwritten by every call of {@link digestOf}. */
const signed = new Uint8Array(2 + 2 * WORD_BYTES);
signed.set([0x19, 0x01], 0);

/**
 * The digest that the payer signs: 32 bytes that belong to the caller.
 * @param struct from {@link structOf} @param keccak256 noble's unless given
 */
export function digestOf(struct: Uint8Array, keccak256: Keccak256 = keccak_256): Uint8Array {
  signed.set(struct.subarray(0, WORD_BYTES), 2);
  signed.set(keccak256(struct.subarray(WORD_BYTES)), 2 + WORD_BYTES);
  return keccak256(signed);
}
