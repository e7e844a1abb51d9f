/** What a failed look for a retry or a balance becomes; all other ways in stand in test/contract/retry.test.ts. */
import { expect, it } from 'vitest';
import { costsNothing } from '../../src/access/credits.ts';
import { retryReader } from '../../src/access/retry-access.ts';
import { KEY_PREFIX } from '../../src/accounts/key.ts';
import type { Admission } from '../../src/http/access.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { READ_TOKEN_PREFIX } from '../../src/retry/identifier.ts';
import { DamagedJobError } from '../../src/retry/store.ts';

const ID = `rt_${'A'.repeat(24)}`;

it.each([KEY_PREFIX, READ_TOKEN_PREFIX])(
  'a damaged record is refused, and any other failure passed on, for a token %s',
  async (prefix) => {
    const admitted = (failure: Error) => {
      const accounts = { authenticate: async () => ({ keyId: 'k', organization: 'acme', scopes: [] }) };
      const retries = { find: () => Promise.reject(failure) };
      const request = { params: { id: ID }, header: () => `Bearer ${prefix}x` } as unknown as RequestView;
      return retryReader
        .open({ accounts: accounts as never, retries }, {} as never, {} as never)
        .admit(request, {}, {});
    };
    expect(await admitted(new DamagedJobError(ID, 'no JSON'))).toMatchObject({ code: 'STATE_UNAVAILABLE' });
    await expect(admitted(new Error('a bug'))).rejects.toThrow('a bug');
  },
);

it('an answer that cost nothing states no credits while the balance cannot be read', async () => {
  const accounts = { charge: async () => ({ kind: 'unavailable', detail: 'the database is away' }) };
  const admitter = costsNothing.open({ accounts: accounts as never }, {} as never, {} as never);
  const admitted = await admitter.admit({} as never, { organization: 'acme' as never }, {});
  expect(await (admitted as Admission).settle?.({} as never)).toBeUndefined();
});
