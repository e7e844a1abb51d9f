/** The first level of overload in a real server, whose memory differs from start to start (reliability 211). */
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RUNTIMES, type RunningServer, type Runtime } from '../support/server.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';
import { expectFreeRoutes, loggedOf, outcomeOf, PATH, pageOf, start } from './overloaded-server.ts';

const TRIES_MAX = 20;
/** A collection takes up to 0.035 of it before offers are refused, and Bun's garbage of the start adds to it: between 0.85 and 0.92. */
const AIMED_SHARE = 0.885;
/** Each try is a start of a server. */
const PRESSED_TIMEOUT_MS = 120_000;

/** A server whose memory is at 85 to 92 % of its limit; what a runtime holds differs from start to start. */
async function startPressed(
  runtime: Runtime,
  variables: Record<string, string>,
  whileQuiet: (quiet: RunningServer) => Promise<void>,
): Promise<RunningServer> {
  const quiet = await start(runtime, variables);
  await whileQuiet(quiet);
  await passed(500);
  let limit = Math.round((await pageOf(quiet)).value('process_resident_memory_bytes') / AIMED_SHARE);
  await quiet.stop();
  for (let i = 0; i < TRIES_MAX; i++) {
    const server = await start(runtime, { ...variables, MEMORY_LIMIT_BYTES: String(limit) });
    await passed(600);
    const page = await pageOf(server);
    if (page.value('paygrade_overload_level') === 1) return server;
    limit = Math.round(page.value('process_resident_memory_bytes') / AIMED_SHARE);
    await server.stop();
  }
  throw new Error('no limit of memory brought the server to the first level');
}

describe.each(RUNTIMES)('overload of memory, under %s', (runtime) => {
  it(
    'a server above 85 % of its memory makes no offers, and the payments of before still buy (reliability 211)',
    async () => {
      const variables = { PAY_TO: wallet().address, BASE_URL: 'http://shop.example' };
      let payment = '';
      const server = await startPressed(runtime, variables, async (quiet) => {
        payment = encodeHeader(await paymentFor(await offerFrom(quiet.fetch(PATH)), wallet()));
      });
      try {
        expect(await outcomeOf(server.fetch(PATH, { headers: { 'PAYMENT-SIGNATURE': payment } }))).toBe('200');
        expect(await outcomeOf(server.fetch(PATH))).toBe('503 OVERLOADED');
        expect(await outcomeOf(server.fetch('/v1/callbacks', { method: 'POST' }))).toBe('503 OVERLOADED');
        await expectFreeRoutes(server);
        const begun = loggedOf(server).find(({ overload_level }) => overload_level === 1);
        expect(begun).toMatchObject({ level: 'warn', reason: 'memory' });
      } finally {
        await server.stop();
      }
    },
    PRESSED_TIMEOUT_MS,
  );
});
