// @ts-check
/** Shows byte counts and bytes to people. */

const LINE_BYTES = 16;

/** @param {number} count */
export function sizeText(count) {
  if (count < 1024) return `${count} byte${count === 1 ? '' : 's'}`;
  const kibibytes = count / 1024;
  return `${kibibytes.toFixed(kibibytes < 10 ? 1 : 0)} KiB (${count.toLocaleString('en-US')} bytes)`;
}

/** @param {number} byte */
const hex = (byte) => byte.toString(16).padStart(2, '0');

/** @param {number} byte */
const shown = (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

/**
 * Hex digits without separators.
 * @param {Uint8Array} bytes
 */
export const hexText = (bytes) => Array.from(bytes, hex).join('');

/**
 * A hex dump: lines of offset, sixteen bytes, and the same bytes as ASCII.
 * @param {Uint8Array} bytes
 */
export function hexLines(bytes) {
  /** @type {string[]} */
  const lines = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const line = bytes.subarray(at, at + LINE_BYTES);
    const digits = Array.from(line, hex);
    const halves = `${digits.slice(0, 8).join(' ')}  ${digits.slice(8).join(' ')}`;
    lines.push(`${at.toString(16).padStart(5, '0')}  ${halves.padEnd(48)}  ${Array.from(line, shown).join('')}`);
  }
  return lines.join('\n');
}
