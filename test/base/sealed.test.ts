/** Sealed text: the layout in which state files and databases hold it, and what does not open. */
import { createCipheriv } from 'node:crypto';
import { expect, it } from 'vitest';
import { sealed, unsealed } from '../../src/base/sealed.ts';

const KEY = new Uint8Array(32).fill(7);
const NONCE = new Uint8Array(12).fill(3);
const random = { bytes: () => NONCE } as unknown as Parameters<typeof sealed>[3];

/** Nonce, tag, encrypted text; without additional data where there is none to bind. */
function written(text: string, bound?: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', KEY, NONCE);
  if (bound !== undefined) cipher.setAAD(Buffer.from(bound));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([NONCE, cipher.getAuthTag(), encrypted]);
}

it.each([
  ['bound to nothing', 'é', '', written('é')],
  ['bound to a text', 'é', 'rt_1', written('é', 'rt_1')],
  ['empty', '', 'rt_1', written('', 'rt_1')],
])('a text %s is written as nonce, tag and encrypted text, and opens', (_, text, bound, expected) => {
  expect(sealed(KEY, text, bound, random)).toEqual(expected);
  expect(unsealed(KEY, expected, bound)).toBe(text);
});

it('opens neither bound to another text, nor with another key, nor changed', () => {
  const bytes = sealed(KEY, 'secret', 'rt_1', random);
  expect(() => unsealed(KEY, bytes, 'rt_2')).toThrow();
  expect(() => unsealed(new Uint8Array(32), bytes, 'rt_1')).toThrow();
  for (const at of [0, 12, 28]) {
    const changed = Uint8Array.from(bytes);
    changed[at]! ^= 1;
    expect(() => unsealed(KEY, changed, 'rt_1')).toThrow();
  }
});
