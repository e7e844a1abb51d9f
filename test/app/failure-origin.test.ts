/** What the operator learns about a failure that no request waits for. */
import { expect, it } from 'vitest';
import { openBackend } from '../../src/storage/open-backend.ts';
import { openedApp } from '../support/opened-app.ts';

it('a failure of a store, whatever it stores, is reported as one of the state', async () => {
  const reported: unknown[] = [];
  const failure = new Error('a resolve cannot be stored');
  const app = await openedApp(
    {},
    {
      openBackend: async (options, ports) => {
        const backend = await openBackend(options, ports);
        ports.onFailure(failure);
        return backend;
      },
      onFailure: (...facts) => reported.push(facts),
    },
  );
  await app.close();
  expect(reported).toEqual([[failure, 'state']]);
});
