/** What the types of a declaration refuse, so that no request meets it. */
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { type ApiKeyServices, apiKey } from '../../src/access/api-key.ts';
import { costs, costsWithKey } from '../../src/access/credits.ts';
import { fewUncharged } from '../../src/access/uncharged.ts';
import { type PaidServices, paid } from '../../src/access/x402.ts';
import { anyOf } from '../../src/http/access.ts';
import { AfterSettlement } from '../../src/http/answers.ts';
import { route } from '../../src/http/route.ts';

const declare = route<never>();
const base = { operation: 'ask', method: 'GET', path: '/ask', summary: 'ask', answer: v.number(), errors: [] } as const;
const handle = (): number => 1;

it('refuses ways in before those that say who asks', () => {
  const key = apiKey('jobs:read');
  const either = anyOf(key, paid('0.02'));
  const charge = { ...costs(1), isPresented: () => true };
  const routes = [
    declare({ ...base, handle, access: [key, costs(1)] }),
    declare({ ...base, handle, access: [either, fewUncharged, costsWithKey(1)] }),
    declare({ ...base, handle, access: [key, anyOf(charge, paid('0.02'))] }),
    // @ts-expect-error: nobody is known to be charged
    declare({ ...base, handle, access: [costs(1), key] }),
    // @ts-expect-error: nor by one way in of several
    declare({ ...base, handle, access: [anyOf(charge, paid('0.02'))] }),
    // @ts-expect-error: who pays has no credits
    declare({ ...base, handle, access: [either, costs(1)] }),
    // @ts-expect-error: nobody is known to be counted
    declare({ ...base, handle, access: [fewUncharged, either] }),
  ];
  expect(routes).toHaveLength(7);
});

it('refuses alternatives of which one lacks its services', () => {
  const either = anyOf(apiKey('jobs:read'), paid('0.02'));
  const routes = [
    route<ApiKeyServices & PaidServices>()({ ...base, handle, access: [either] }),
    // @ts-expect-error: nothing to take payments by
    route<ApiKeyServices>()({ ...base, handle, access: [either] }),
  ];
  expect(routes).toHaveLength(2);
});

it('refuses another draft than the payment gives back', () => {
  const drafted = paid<{ readonly id: string }>('0.02');
  const routes = [
    declare({
      ...base,
      access: [drafted],
      handle: (_, __, ___, { draft = { id: 'a' } }) => new AfterSettlement(draft, () => 1),
    }),
    // @ts-expect-error: a draft without its id
    declare({ ...base, access: [drafted], handle: () => new AfterSettlement({}, () => 1) }),
    // @ts-expect-error: no draft is declared, so none would come back
    declare({ ...base, access: [paid('0.02')], handle: () => new AfterSettlement({ id: 'a' }, () => 1) }),
  ];
  expect(routes).toHaveLength(3);
});
