/** Which jobs service is asked, in which order and for how long (siblings §8); and the two ways of asking. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { FetchConnections } from '../../../src/adapters/engine/fetch-connections.ts';
import { HttpConnections } from '../../../src/adapters/engine/http-connections.ts';
import { JobsServices } from '../../../src/adapters/engine/jobs-services.ts';
import { ANSWER_BYTES_MAX, CONNECTIONS_PER_SERVICE, LOOK_PAUSE_AWAY_MS } from '../../../src/adapters/engine/limits.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import type { RemoteQuestion } from '../../../src/catalogue/remote-catalogue.ts';
import { until } from '../../support/until.ts';
import {
  hangingUp,
  LOOK,
  type Script,
  type ScriptedService,
  scriptedService,
  sending,
  silent,
} from './scripted-service.ts';

const TOKEN = 'token-of-the-services-0123456789';
/** For what comes, on a slow machine too; and for what does not. */
const TIMEOUT_MS = 10_000;
const SHORT_MS = 250;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

const good = sending(200, '"good"');
const garbage = sending(200, 'garbage');
/** Says how long its answer is, and sends nothing of it. */
const stating =
  (byteCount: number): Script =>
  (_, response) => {
    response.writeHead(200, { 'content-length': byteCount }).flushHeaders();
  };
/** Begins an answer that it cuts. */
const cut: Script = (request, response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('"');
  setTimeout(() => request.socket.destroy(), 20);
};

const switching: Script = ({ socket }) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n');
};

const question: RemoteQuestion<string> = {
  path: '/v1/jobs/detail',
  query: 'id=a%2Fb',
  read: (status, text) => (text === '"good"' ? `${status} ${text}` : undefined),
};

const running: ScriptedService[] = [];
const opened: { close(): void }[] = [];
/** At the end of the file: tests are beside each other. */
afterAll(async () => {
  for (const one of opened) one.close();
  await Promise.all(running.map((service) => service.close()));
});

async function serviceOf(script: Script): Promise<ScriptedService> {
  const service = await scriptedService(script, TOKEN);
  running.push(service);
  return service;
}

/** Listens with its event loop blocked, so that the system accepts two connections for it and no more. */
const DEAF = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  require('fs').writeSync(1, String(this.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
})`;

/** The address of a machine that drops whatever comes. */
async function deadAddress(): Promise<string> {
  const child = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  const filling = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  opened.push({
    close() {
      for (const socket of filling) socket.destroy();
      child.kill('SIGKILL');
    },
  });
  const isFull = (): boolean => filling.filter((socket) => socket.connecting).length > 0;
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (!isFull()) throw new Error('the system accepts more connections than it was asked for');
  return `http://127.0.0.1:${port}`;
}

function openServices(urls: readonly string[], news: string[] = [], timeoutMs = TIMEOUT_MS): JobsServices {
  const services = new JobsServices(
    { urls, token: TOKEN, timeoutMs },
    {
      clock: systemClock,
      timers: systemTimers,
      onJobsService: (url, fault) => news.push(`${urls.indexOf(url)} ${fault ?? 'again'}`),
    },
  );
  opened.push(services);
  return services;
}

/** Beside each other: they wait for looks, and for what does not come. */
describe.concurrent('jobs services', () => {
  it('are asked in turn', async () => {
    const [one, other] = [await serviceOf(good), await serviceOf(good)];
    const services = openServices([one.url, other.url]);
    for (let count = 0; count < 4; count++) {
      expect(await services.ask(question)).toEqual({ kind: 'answer', answer: '200 "good"' });
    }
    expect([one, other].map(({ questions }) => questions)).toEqual(
      new Array(2).fill(new Array(2).fill('/internal/v1/jobs/detail?id=a%2Fb')),
    );
  });

  it.each([
    ['401', sending(401, '')],
    ['403', sending(403, '')],
    ['429', sending(429, '')],
    ['500', sending(500, '')],
    ['503', sending(503, '{}')],
    ['a lost connection', hangingUp],
    ['an answer that is cut', cut],
  ] as const)('go on to the next after %s, and ask that one last from then on', async (_, script) => {
    const [bad, next] = [await serviceOf(script), await serviceOf(good)];
    const services = openServices([bad.url, next.url]);
    for (let count = 0; count < 3; count++) expect((await services.ask(question)).kind).toBe('answer');
    expect([bad.questions.length, next.questions.length]).toEqual([1, 3]);
  });

  it.each([
    ['a bad answer', garbage, 'invalid'],
    ['a status that is none of its', sending(302, '', { location: NOWHERE }), 'invalid'],
    ['a change of the protocol', switching, 'invalid'],
    ['a late answer', silent, 'late'],
  ] as const)('go nowhere else after %s', async (_, script, kind) => {
    const [bad, next] = [await serviceOf(script), await serviceOf(good)];
    const services = openServices([bad.url, next.url], [], kind === 'late' ? SHORT_MS : TIMEOUT_MS);
    expect((await services.ask(question)).kind).toBe(kind);
    expect(next.questions).toEqual([]);
    expect(services.canAsk()).toBe(true);
  });

  it('have one time for all of them together', async () => {
    const half: Script = (request, response) => void setTimeout(() => hangingUp(request, response), SHORT_MS * 0.6);
    const slow = [await serviceOf(half), await serviceOf(half), await serviceOf(good)];
    const startMs = performance.now();
    expect(
      (
        await openServices(
          slow.map(({ url }) => url),
          [],
          SHORT_MS,
        ).ask(question)
      ).kind,
    ).toBe('late');
    expect(performance.now() - startMs).toBeLessThan(SHORT_MS * 8);
    expect(slow[2]!.questions).toEqual([]);
  });

  it('are passed over when their machine is off: nothing refuses, and nothing answers', {
    timeout: 60_000,
  }, async () => {
    const dead = await deadAddress();
    const well = await serviceOf(good);
    const news: string[] = [];
    const services = openServices([dead, well.url], news);
    expect(await services.ask(question)).toEqual({ kind: 'answer', answer: '200 "good"' });
    expect(news).toEqual(['0 no connection within 1000 ms']);
    expect(await openServices([dead]).ask(question)).toEqual({
      kind: 'unavailable',
      detail: `${dead}: no connection within 1000 ms`,
    });
  });

  it('can be asked while one that was away is not known to be so still, when the last other one goes', async () => {
    const [first, second] = [await serviceOf(hangingUp), await serviceOf(good)];
    const news: string[] = [];
    const services = openServices([first.url, second.url], news);
    expect((await services.ask(question)).kind).toBe('answer');
    expect(news).toEqual([expect.stringMatching(/^0 /)]);
    first.answerBy((request, response) => void setTimeout(() => good(request, response), 300));
    second.answerBy(hangingUp);
    const asking = services.ask(question);
    await until('the other one is gone', () => news.at(-1)?.startsWith('1 ') === true);
    expect(services.canAsk()).toBe(true);
    expect((await asking).kind).toBe('answer');
    first.answerBy(hangingUp);
    await until('none can be asked', () => !services.canAsk());
    expect(await services.ask(question)).toMatchObject({ kind: 'unavailable' });
    expect(services.canAsk()).toBe(false);
  });

  it.each([
    ['500', sending(500, '')],
    ['429', sending(429, '')],
    ['a lost connection', hangingUp],
  ] as const)('are asked on after one %s, and away once a look has met it too', async (_, script) => {
    const only = await serviceOf(good);
    const services = openServices([only.url]);
    await services.ask(question);
    only.answerBy(script);
    expect(await services.ask(question)).toMatchObject({ kind: 'unavailable' });
    expect([services.canAsk(), services.isReady()]).toEqual([true, true]);
    await until('none can be asked', () => !services.canAsk());
    expect(services.isReady()).toBe(false);
    only.answerBy(good);
    await until('one can be asked', () => services.canAsk());
  });

  it('are asked on after one late answer, and not once a look has waited in vain too', async () => {
    const only = await serviceOf(good);
    const services = openServices([only.url], [], SHORT_MS);
    await services.ask(question);
    only.answerBy(silent);
    expect((await services.ask(question)).kind).toBe('late');
    expect(services.canAsk()).toBe(true);
    await until('none can be asked', () => !services.canAsk());
    only.answerBy(good);
    await until('one can be asked', () => services.canAsk());
  });

  it('are looked at one look at a time, whatever questions meet meanwhile', async () => {
    let looks = 0;
    let looksMax = 0;
    const only = await serviceOf((request, response) => {
      if (request.url !== LOOK) return hangingUp(request, response);
      looksMax = Math.max(looksMax, ++looks);
      response.on('close', () => looks--);
    });
    const services = openServices([only.url], [], 3 * LOOK_PAUSE_AWAY_MS);
    services.start();
    await until('a look', () => looks === 1);
    expect((await services.ask(question)).kind).toBe('unavailable');
    await new Promise((resolve) => setTimeout(resolve, 2 * LOOK_PAUSE_AWAY_MS));
    expect(looksMax).toBe(1);
    await until('none can be asked', () => !services.canAsk());
  });

  it('are unavailable when none can be asked, which the operator hears once, and come back by a look', async () => {
    const back = await serviceOf(hangingUp);
    const news: string[] = [];
    const services = openServices([NOWHERE, back.url], news);
    expect(await services.ask(question)).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringContaining(NOWHERE),
    });
    expect([services.canAsk(), services.isReady()]).toEqual([true, false]);
    await until('none can be asked', () => !services.canAsk());
    await services.ask(question);
    expect(news.map((line) => line.slice(0, 1))).toEqual(['0', '1']);
    back.answerBy(good);
    await until('one is ready', () => services.isReady());
    expect(news.at(-1)).toBe('1 again');
    const page = new Exposition();
    services.metrics(page);
    expect(page.text).toContain(`paygrade_engine_service_up{address="${back.url}"} 1\n`);
    expect(page.text).toMatch(/paygrade_engine_requests_total\{address="[^"]+",outcome="lost"\} [1-9]/);
  });
});

describe.each([
  ['node:http', HttpConnections],
  ['fetch', FetchConnections],
] as const)('an exchange by %s', (_, Connections) => {
  const connect = (url: string) => {
    const connections = new Connections(url, TOKEN);
    opened.push(connections);
    return connections;
  };

  it.each([
    ['the whole answer', sending(200, '"grün"'), { kind: 'answer', status: 200, text: '"grün"' }],
    ['a refusal', sending(404, '{}'), { kind: 'answer', status: 404, text: '{}' }],
    ['as much as may be', sending(200, 'x'.repeat(ANSWER_BYTES_MAX)), { kind: 'answer', status: 200 }],
    ['one byte more', sending(200, 'x'.repeat(ANSWER_BYTES_MAX + 1)), { kind: 'unusable' }],
    ['one byte more that is stated and never sent', stating(ANSWER_BYTES_MAX + 1), { kind: 'unusable' }],
    [
      'what is no UTF-8',
      (_: unknown, response: { end(bytes: Buffer): void }) => response.end(Buffer.from([0xff])),
      { kind: 'unusable' },
    ],
    ['a cut answer', cut, { kind: 'lost' }],
    ['nothing', hangingUp, { kind: 'lost' }],
  ] as const)('gives %s', async (_title, script, expected) => {
    const { url } = await serviceOf(script as Script);
    expect(await connect(`${url}`).get('/x').done).toMatchObject(expected);
  });

  it('is lost where nothing listens, and when it is aborted', async () => {
    expect(await connect(NOWHERE).get('/x').done).toMatchObject({ kind: 'lost' });
    const { url } = await serviceOf(silent);
    const exchange = connect(url).get('/x');
    setTimeout(() => exchange.abort(), 20);
    expect(await exchange.done).toMatchObject({ kind: 'lost' });
  });
});

it('an exchange by node:http is lost when it is aborted while it waits for a connection', async () => {
  const service = await serviceOf(silent);
  const connections = new HttpConnections(service.url, TOKEN);
  opened.push(connections);
  for (let count = 0; count < CONNECTIONS_PER_SERVICE; count++) void connections.get('/held');
  const waiting = connections.get('/x');
  await expect.poll(() => service.questions.length).toBe(CONNECTIONS_PER_SERVICE);
  waiting.abort();
  expect(await waiting.done).toMatchObject({ kind: 'lost' });
});

it('an exchange by node:http gives an answer that changes the protocol', async () => {
  const service = await serviceOf(switching);
  const connections = new HttpConnections(service.url, TOKEN);
  opened.push(connections);
  expect(await connections.get('/x').done).toMatchObject({ kind: 'answer', status: 101 });
});

it("an exchange by Bun's fetch gives an answer that changes the protocol", async () => {
  vi.stubGlobal('fetch', () => Promise.reject(Object.assign(new Error(), { code: 'UnrequestedUpgrade' })));
  const connections = new FetchConnections(NOWHERE, TOKEN);
  opened.push(connections);
  expect(await connections.get('/x').done).toMatchObject({ kind: 'answer', status: 101 });
  vi.unstubAllGlobals();
});

it('an exchange by node:http is repeated where the service has closed the connection that it would reuse', async () => {
  const service = await serviceOf((request, response) => {
    const { socket } = request;
    const { isUsed } = socket as { isUsed?: boolean };
    if (isUsed === true) return void socket.destroy();
    Object.assign(socket, { isUsed: true });
    good(request, response);
  });
  const connections = new HttpConnections(service.url, TOKEN);
  opened.push(connections);
  for (let count = 0; count < 3; count++) {
    expect(await connections.get('/x').done).toMatchObject({ kind: 'answer' });
  }
  expect(service.questions.length).toBe(5);
});

it('an exchange by node:http is not repeated once its answer has begun, and is lost', async () => {
  const service = await serviceOf((request, response) => {
    const { socket } = request;
    const { isUsed } = socket as { isUsed?: boolean };
    Object.assign(socket, { isUsed: true });
    if (isUsed !== true) return good(request, response);
    response.writeHead(200, { 'content-length': '100' });
    response.write('"');
    setTimeout(() => socket.resetAndDestroy(), 20);
  });
  const connections = new HttpConnections(service.url, TOKEN);
  opened.push(connections);
  expect(await connections.get('/x').done).toMatchObject({ kind: 'answer' });
  expect(await connections.get('/x').done).toMatchObject({ kind: 'lost' });
  // A repeat would be on its way.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(service.questions.length).toBe(2);
});
