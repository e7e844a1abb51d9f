/**
 * The 402: from a request without a payment to the response, in process, and its parts. Before it times anything, the bench
 * compares the offer with what the official client reads from it.
 *
 * Measured before, on Node 26 and Bun 1.4, for a header of 2.7 KB: an offer with a query takes 0.2 µs, stringifying and
 * encoding the object 4.8 and 6.6 µs.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { offerOf } from '../src/access/payment-offer.ts';
import { openApp } from '../src/app/app.ts';
import { CONFIGURATION } from '../src/app/configuration.ts';
import type { Route } from '../src/http/route.ts';
import { findSignals } from '../src/modules/jobs/signals.ts';
import { BASE } from '../src/payment/protocol/network.ts';
import { PAYEE } from '../test/payment/fixture.ts';
import { appPorts } from '../test/support/app-ports.ts';
import { type Context, type Figure, timed, timedAsync } from './harness.ts';

const BASE_URL = 'http://127.0.0.1:8402';
const SEARCH = '?role=engineer&location=germany';

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const config = CONFIGURATION.read({
    SNAPSHOT: cataloguePath,
    STATE_DIR: ':memory:',
    RATE_LIMIT_PER_MINUTE: '0',
    CALLBACK_LIMIT_PER_MINUTE: '0',
  });
  const failures: unknown[] = [];
  const app = await openApp(
    { ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL },
    appPorts({ onFailure: (failure) => failures.push(failure) }),
  );
  const { path } = findSignals;
  const seller = { payTo: PAYEE, network: BASE, prices: {}, isPlay: true, serviceName: 'paygrade' };
  const offer = offerOf(findSignals as unknown as Route, '0.09', seller, { baseUrl: BASE_URL, labels: {} });
  const request = new Request(`${BASE_URL}${path}${SEARCH}`);
  const response = await app.fetch(request);
  deepStrictEqual(response.status, 402);
  const header = response.headers.get('payment-required') ?? '';
  const read = decodePaymentRequiredHeader(header);
  deepStrictEqual(read.resource.url, `${BASE_URL}${path}${SEARCH}`);
  deepStrictEqual(read.accepts[0]?.amount, '90000');
  const body = JSON.parse(await response.text()) as { accepts: unknown };
  deepStrictEqual(body.accepts, read.accepts);
  ok(header.length <= 6144);

  let count = 0;
  const note = `${header.length} bytes of header`;
  const refused = new Request(`${BASE_URL}${path}?role=e`);
  deepStrictEqual((await app.fetch(refused)).status, 400);
  const figures = [
    await timed('offer with a query', size, () => offer.challenge(SEARCH), note),
    await timed('offer without one', size, () => offer.challenge('')),
    await timedAsync('request to 402, with validation', size, async () => app.fetch(request)),
    await timedAsync('the same, a new question each time', size, async () =>
      app.fetch(new Request(`${BASE_URL}${path}${SEARCH}+${count++}`)),
    ),
    await timedAsync('request to 400', size, async () => app.fetch(refused)),
    await timedAsync('request to 404', size, async () => app.fetch(new Request(`${BASE_URL}/nothing`))),
  ];
  deepStrictEqual(failures, []);
  await app.close();
  return figures;
}
