import { describe, expect, it } from 'vitest';
import { alphanumerics } from '../../src/base/alphanumerics.ts';
import { systemRandom } from '../../src/base/random.ts';
import { newCallbackId, newEventId, parseCallbackId } from '../../src/callback/identifier.ts';

describe('callback ids (reliability 128)', () => {
  const COUNT = 20_000;
  const ids = Array.from({ length: COUNT }, () => newCallbackId(systemRandom));

  it('have the contract’s form, and none repeats', () => {
    expect(ids.filter((id) => !/^cb_[A-Za-z0-9]{24}$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(COUNT);
  });

  it('use each of the 62 letters equally often', () => {
    const counts = new Map<string, number>();
    for (const id of ids) for (const letter of id.slice(3)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const expected = (COUNT * 24) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: 130 is passed once in a million runs; modulo bias of 256 % 62 would give some 3,500.
    expect(chiSquare).toBeLessThan(130);
  });

  it('throw away the bytes that would favour a letter', () => {
    let draws = 0;
    const biased = {
      uuid: () => '',
      bytes: (count: number) => new Uint8Array(count).fill(draws++ === 0 ? 248 : 247),
    };
    expect(alphanumerics(biased, 24)).toBe('9'.repeat(24));
    expect(draws).toBe(2);
  });

  it.each([
    [`cb_${'a'.repeat(24)}`, true, 'lower case'],
    [`cb_${'Z9'.repeat(12)}`, true, 'capitals and digits'],
    [`cb_${'a'.repeat(23)}`, false, '23 letters'],
    [`cb_${'a'.repeat(25)}`, false, '25 letters'],
    [`cb_${'a'.repeat(23)}-`, false, 'a hyphen'],
    [`cb_${'a'.repeat(23)}é`, false, 'not ASCII'],
    [`cb_%41${'a'.repeat(23)}`, false, 'percent-encoded'],
    [`cb_${'a'.repeat(21)}%0A`, false, 'an encoded line feed'],
    [`cb_${'a'.repeat(24)}\n`, false, 'a line feed after it'],
    [` cb_${'a'.repeat(24)}`, false, 'a blank before it'],
    [`CB_${'a'.repeat(24)}`, false, 'a prefix in capitals'],
    [`cb_${'a'.repeat(24)}/`, false, 'a slash after it'],
    ['', false, 'nothing'],
  ])('parseCallbackId(%j) is %s because of %s (reliability 137)', (text, isId) => {
    expect(parseCallbackId(text)).toBe(isId ? text : undefined);
  });
});

it('event ids have the contract’s form and do not repeat (reliability 183)', () => {
  const ids = Array.from({ length: 10_000 }, () => newEventId(systemRandom));
  for (const id of ids) expect(id).toMatch(/^evt_[a-f0-9]{32}$/);
  expect(new Set(ids).size).toBe(10_000);
});
