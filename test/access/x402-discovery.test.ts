/** What is looked at before a paid route is listed anywhere: a route that nobody could use stops the start. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type PaidServices, paid, priceOf } from '../../src/access/x402.ts';
import { bazaarOf, exampleSearchOf } from '../../src/access/x402-discovery.ts';
import { x402ListingOf } from '../../src/access/x402-listing.ts';
import type { Contract, Method } from '../../src/http/contract.ts';
import { type Route, route } from '../../src/http/route.ts';
import { BASE } from '../../src/payment/protocol/network.ts';
import { PAYEE } from '../payment/fixture.ts';
import { OPERATIONS } from '../support/declared.ts';

const declared = (changes: {
  method?: Method;
  path?: `/${string}`;
  bodies?: NonNullable<Contract['bodies']>;
  examples?: NonNullable<Contract['examples']>;
}): Route<PaidServices> =>
  route<PaidServices>()({
    operation: 'ask',
    method: 'GET',
    path: '/ask',
    summary: 'Ask',
    access: [paid('0.01')],
    query: v.strictObject({
      company: v.pipe(v.string(), v.minLength(2), v.metadata({ rule: 'two characters' })),
      limit: v.optional(v.pipe(v.number(), v.metadata({ rule: 'a number' })), 1),
    }),
    answer: v.strictObject({ data: v.string() }),
    errors: [],
    handle: () => ({ data: '' }),
    examples: { query: { company: 'example.com', limit: 2 } },
    ...changes,
  });

describe('a listed route', () => {
  it('is accepted with an example that it can answer', () => {
    const good = declared({});
    expect(exampleSearchOf(good)).toBe('?company=example.com&limit=2');
    expect(bazaarOf(good, 'example and outline').info).toMatchObject({
      input: { method: 'GET', queryParams: { company: 'example.com' } },
    });
  });

  it.each([
    ['no example', { examples: {} }, /GET \/ask: its own example is refused: `company` is required/],
    ['an example out of its rule', { examples: { query: { company: 'a' } } }, /`company` must be two characters/],
    ['an unknown name', { examples: { query: { company: 'ab', page: 1 } } }, /unknown query parameter "page"/],
    ['a path with parameters', { path: '/ask/:id' }, /a path with parameters is not listed/],
    [
      'an example body that the operation refuses',
      { method: 'POST', bodies: { 'application/json': v.strictObject({ url: v.string() }) } },
      /POST \/ask: the example of its body is refused/,
    ],
    ['another method', { method: 'DELETE' }, /only GET and POST are listed/],
  ] as const)('%s stops the start', (_, changes, message) => {
    expect(() => bazaarOf(declared(changes), 'example and outline')).toThrow(message);
  });

  it('is every paid operation of ours, and no free one', () => {
    const mount = { labels: {}, baseUrl: 'https://api.example.com' };
    const seller = { payTo: PAYEE, network: BASE, prices: {}, isPlay: false, serviceName: 'paygrade' };
    const listing = x402ListingOf([{ operations: OPERATIONS, mount }], seller);
    const paidPaths = OPERATIONS.filter(({ access }) => priceOf(access) !== undefined).map(({ path }) => path);
    expect(paidPaths.length).toBeGreaterThan(3);
    expect(listing.resources).toEqual(paidPaths.map((path) => `https://api.example.com${path}`));
  });
});
