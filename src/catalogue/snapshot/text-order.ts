/**
 * The order of JavaScript's `<` (UTF-16 code units) on UTF-8 bytes. Byte order is code point order, which differs in one
 * case: U+E000 .. U+FFFF (lead bytes EE, EF) sort after the surrogates that stand for U+10000 and above (lead bytes
 * F0 .. F4). Where two well-formed texts first differ, both bytes are lead bytes or neither is, so ranking EE and EF above
 * F4 is enough.
 */
export function compareText(
  left: Uint8Array,
  leftStart: number,
  leftEnd: number,
  right: Uint8Array,
  rightStart: number,
  rightEnd: number,
): number {
  const shared = Math.min(leftEnd - leftStart, rightEnd - rightStart);
  for (let i = 0; i < shared; i++) {
    const a = left[leftStart + i]!;
    const b = right[rightStart + i]!;
    if (a !== b) return rankOf(a) - rankOf(b);
  }
  return leftEnd - leftStart - (rightEnd - rightStart);
}

function rankOf(byte: number): number {
  return byte === 0xee || byte === 0xef ? byte + 16 : byte;
}
