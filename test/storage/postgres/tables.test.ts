/** The steps that take the tables of a database to this release (src/storage/postgres/tables/). */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { TABLES } from '../../../src/storage/postgres/tables/tables.ts';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

it('a step stays as databases have taken it: a change of the tables is one more step, and one more digest here', () => {
  const digests = Object.fromEntries(TABLES.map(({ name, migrations }) => [name, migrations.map(digestOf)]));
  expect(digests).toEqual({
    accounts: ['c0cd2351cdd0292d'],
    callbacks: ['4785421f92cae5fb', '3fc61e082f069022'],
    clock: ['450a497f73f5ad3e'],
    identity: ['1e95bda5dc55b2b3', 'c9986d550ee9a84c'],
    payments: ['3a789839e0bcd843', '96b6e507f5440eed', '608ff2ae712f05d2'],
    'play-ledger': ['442acbd94d298de7'],
    processes: ['46bda4bb6de421a1', '11cd2fb325b2a46d'],
    rates: ['9986186ed5681a04'],
    resolves: ['54ad5e2984ada532'],
    retries: ['364eb72418d0a09e'],
    sales: ['6e87bdaf5b73e10f'],
    secrets: ['4016d299a2e45a65'],
  });
});
