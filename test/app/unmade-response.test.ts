/** A paid answer of which no response can be made: a 500 with the receipt, and the books do not call it delivered. */
import * as v from 'valibot';
import { afterEach, expect, it } from 'vitest';
import { type OverloadServices, unlessOverloaded } from '../../src/access/overload.ts';
import { type PaidServices, paid } from '../../src/access/x402.ts';
import { SURFACES, type SurfaceDefinition } from '../../src/app/modules.ts';
import { Reply } from '../../src/http/answers.ts';
import { bind } from '../../src/http/operation.ts';
import { route } from '../../src/http/route.ts';
import { defineModule } from '../../src/modules/module.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { openBackend } from '../../src/storage/open-backend.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';
import { buyOver, decodeHeader } from '../support/wallet.ts';

const ask = route<OverloadServices & PaidServices>()({
  operation: 'unsendable',
  method: 'GET',
  path: '/v1/unsendable',
  summary: 'An answer with a header that cannot be sent',
  access: [unlessOverloaded, paid('0.01')],
  query: v.strictObject({ good: v.optional(v.string()) }),
  answer: v.strictObject({}),
  errors: [],
  handle: (input) => new Reply('{}', { 'x-odd': input.good === undefined ? 'a\nb' : 'a' }),
});

const surface: SurfaceDefinition = {
  name: 'odd',
  title: 'odd',
  description: 'odd',
  path: '/odd',
  modules: [
    defineModule({
      tag: 'odd',
      summary: 'odd',
      settings: {},
      routes: [ask],
      open: ({ paid: services, shedding }) => ({ operations: bind('odd', [ask], { paid: services, shedding }) }),
    }),
  ],
};

let opened: OpenedApp;
afterEach(async () => {
  opened.app.drain();
  await opened.app.close();
});

it('is a 500 with the receipt, and stays undelivered', async () => {
  const timers = new ManualTime();
  let backend: Backend | undefined;
  opened = await openedApp(
    { SNAPSHOT: 'none' },
    {
      timers,
      surfaces: [...SURFACES, surface],
      openBackend: async (options, ports) => {
        backend = await openBackend(options, ports);
        return backend;
      },
    },
  );
  const { app } = opened;
  const direct = {
    fetch: async (path: string, init?: RequestInit) => app.fetch(new Request(`http://paygrade.test${path}`, init)),
  };
  const bad = await buyOver(direct, '/odd/v1/unsendable');
  expect(bad.status).toBe(500);
  expect(opened.failures).toHaveLength(1);
  expect(decodeHeader<{ success: boolean }>(bad.headers.get('payment-response')).success).toBe(true);
  const good = await buyOver(direct, '/odd/v1/unsendable?good=1');
  expect(good.status).toBe(200);
  timers.pass(1000);
  const sales = await backend!.books.list({ sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 10 });
  expect(sales.map(({ isDelivered }) => isDelivered)).toEqual([false, true]);
});
