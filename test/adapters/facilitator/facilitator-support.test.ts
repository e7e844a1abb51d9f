import { expect, it } from 'vitest';
import { supportOf } from '../../../src/adapters/facilitator/facilitator-support.ts';
import { networkOf } from '../../../src/payment/protocol/network.ts';

const BASE = networkOf('eip155:8453');
const OURS = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
/** As JSON can have it. */
const UNPRINTABLE = { toString: null, valueOf: null };

it.each([
  {
    because: 'nothing it lists is ours',
    kinds: [{ x402Version: 1, scheme: UNPRINTABLE }],
    words: 'lists 1/an object/undefined',
  },
  {
    because: 'its token has no name',
    kinds: [{ ...OURS, extra: { name: UNPRINTABLE } }],
    words: 'the token an object undefined',
  },
])('a facilitator whose answer cannot be printed is described where $because', ({ kinds, words }) => {
  expect(supportOf({ kinds }, BASE)).toMatchObject({ words: expect.stringContaining(words) });
});
