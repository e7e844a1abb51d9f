/** Mixes of kinds: their text, and how often and how evenly each kind comes. */
import { describe, expect, it } from 'vitest';
import { type Kind, kindsInTurn, MIX_TEXT, type Mix, mixOf, parseMix, shareOf } from '../../src/load/mix.ts';

const parsed = (text: string): Mix => {
  const mix = parseMix(text);
  if (typeof mix === 'string') throw new Error(mix);
  return mix;
};

describe('a mix', () => {
  it('is read from kinds and weights', () => {
    expect([...parsed('paid=1, unpaid=1000')]).toEqual([
      ['paid', 1],
      ['unpaid', 1000],
    ]);
    expect([...mixOf('wait', parsed(MIX_TEXT))]).toEqual([['wait', 1]]);
    expect(mixOf('mixed', parsed('paid=2'))).toEqual(parsed('paid=2'));
  });

  it.each(['', 'paid', 'paid=0', 'paid=1001', 'paid=-1', 'paid=1.5', 'mixed=1', 'paid=1,', 'constructor=1'])(
    'is not read from %j',
    (text) => {
      expect(parseMix(text)).toMatch(/^each part must be one of health, unpaid, paid, webhook, wait, data, /);
    },
  );

  it('names a kind once', () => {
    expect(parseMix('paid=1,wait=1,paid=2')).toBe('paid is given twice');
  });

  it('sends each kind as often as its weight says, spread evenly', () => {
    const mix = parsed(MIX_TEXT);
    const next = kindsInTurn(mix);
    const kinds = Array.from({ length: 1000 }, next);
    for (const [kind] of mix) {
      const share = shareOf(mix, kind);
      expect(kinds.filter((each) => each === kind)).toHaveLength(1000 * share);
      const places = kinds.flatMap((each, place) => (each === kind ? [place] : []));
      const gaps = places.slice(1).map((place, i) => place - (places[i] as number));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(Math.ceil(1 / share) * 2);
    }
    expect(kinds.slice(0, 3)).toEqual<Kind[]>(['unpaid', 'unpaid', 'paid']);
  });
});
