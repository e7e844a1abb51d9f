/** The log of a started server: one JSON line a request, no secret in it (decisions §2; reliability 113). */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/answers.ts';
import { catalogueFolder } from '../support/catalogue-folder.ts';
import { oneRuntime, startServer } from '../support/server.ts';
import { altered, encodeHeader, wallet } from '../support/wallet.ts';
import { FACILITATOR_TOKEN, openFacilitated, settled } from './facilitated-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const { goodFile } = catalogueFolder();

describe.each(oneRuntime('node'))('the log, under %s', (runtime) => {
  it('is one JSON line a request, with its id, and holds no secret (reliability 113)', async () => {
    const account = wallet();
    const shop = await openFacilitated(runtime, wallet().address, { LOG_LEVEL: 'debug' });
    const { jobs } = shop;
    const good = await shop.payment(account);
    const lost = await shop.payment(account);
    shop.plan(lost, '/settle', 'reset', settled);
    const denied = await shop.payment(account);
    shop.plan(denied, '/verify', { status: 401, body: { error: 'detail-canary' } });
    const forged = altered(good, { signature: lost.payload.signature });
    const answers: Answer[] = [];
    for (const payment of [forged, good, good, lost, denied, 'not-base64-canary!', { canary: 'json-canary' }]) {
      answers.push(await jobs.pay('/v1/jobs/search?keyword=query-canary', payment));
    }
    answers.push(await jobs.get('/v1/jobs/search?limit=bad-canary'));
    answers.push(
      await jobs.get('/v1/jobs/search', { 'X-PAYMENT': 'v1-canary', Authorization: 'Bearer bearer-canary' }),
    );
    answers.push(await jobs.get('/nothing', { Cookie: 'cookie-canary' }));
    expect(answers.map(({ status }) => status)).toEqual([402, 200, 409, 503, 503, 402, 402, 400, 402, 404]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    const lines = (): string[] =>
      jobs.server
        .stdout()
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{'));
    await expect.poll(() => lines().some((line) => line.includes(ids.at(-1) ?? 'no id'))).toBe(true);
    const records = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const [i, id] of ids.entries()) {
      const [record, ...more] = records.filter((one) => one.request_id === id && 'status' in one);
      expect(more).toEqual([]);
      expect(record).toMatchObject({ method: 'GET', status: answers[i]!.status, client: '127.0.0.1' });
      expect(record?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(record?.duration_ms).toBeGreaterThanOrEqual(0);
      expect(record?.path).not.toContain('?');
      if (answers[i]!.status !== 200) expect(record?.code).toBe(JSON.parse(answers[i]!.text).error.code);
    }
    await pause(50);
    const everything = jobs.server.stdout() + jobs.server.stderr();
    const secrets = [good, lost, denied].flatMap((payment) => [
      encodeHeader(payment).slice(0, 200),
      payment.payload.signature,
      payment.payload.signature.slice(2, 66),
    ]);
    for (const secret of [...secrets, FACILITATOR_TOKEN, 'canary']) expect(everything).not.toContain(secret);
    await shop.close();
  });

  it('LOG_LEVEL=error leaves out what went well', async () => {
    const server = await startServer(runtime, { LOG_LEVEL: 'error', SNAPSHOT: goodFile });
    await fetch(`${server.url}/health`).then((response) => response.text());
    await fetch(`${server.url}/nothing`).then((response) => response.text());
    expect(await server.stop()).toBe(0);
    expect(server.stdout()).toBe(`listening on http://127.0.0.1:${server.port}\n`);
  });
});
