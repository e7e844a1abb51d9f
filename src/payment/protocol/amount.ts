/** Money: decimal text to atomic units of USDC (6 decimals) and back, never through a float. */
import { USDC_DECIMALS } from './network.ts';

/** At most 6 digits before the point, so that the sum of nine million sales is below 2^63, which databases can add up to. */
const USDC_TEXT = /^(0|[1-9][0-9]{0,5})(?:\.([0-9]{1,6}))?$/;

/** `"0.02"` -> `20000n`; undefined for anything but plain decimal text with at most six decimal places. */
export function usdcAtomicOf(text: string): bigint | undefined {
  const match = USDC_TEXT.exec(text);
  if (match === null) return undefined;
  return BigInt(match[1]! + (match[2] ?? '').padEnd(USDC_DECIMALS, '0'));
}

/** `20000n` -> `"0.02"`: at least two decimal places, no group marks. @param atomic not negative */
export function usdcTextOf(atomic: bigint): string {
  const digits = String(atomic).padStart(USDC_DECIMALS + 1, '0');
  return `${digits.slice(0, -USDC_DECIMALS)}.${digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '')}`;
}

/** An amount or time of an authorization on the wire (x402-v2 §2.5). `BigInt()` alone accepts blanks, signs and hex. */
const UINT_TEXT = /^(?:0|[1-9][0-9]{0,77})$/;
const UINT256_MAX = (1n << 256n) - 1n;

/** Reads a uint256 from strict decimal text, or gives undefined. The pattern bounds the length before BigInt parses it. */
export function uint256Of(text: string): bigint | undefined {
  if (!UINT_TEXT.test(text)) return undefined;
  const value = BigInt(text);
  return value <= UINT256_MAX ? value : undefined;
}
