/** More connections than the system gives the process file descriptors for (reliability 210). */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectPaid } from '../support/answers.ts';
import { startJobsServer } from '../support/jobs-server.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { binaryOf, PROJECT, RUNTIMES, startProcess, startServer } from '../support/server.ts';
import { encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';

const SPARE_COUNT = 20;
const CONNECTION_COUNT = 200;
/** A payment that the server does not know: it looks into the books, on a thread that starts with the first look. */
const UNKNOWN_PAYMENT = `/v1/payments/eip155:8453/0x${'a'.repeat(40)}/0x${'b'.repeat(64)}`;

/** One exchange on a connection that stays open. */
async function askOver(socket: Socket, path: string, headers = ''): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

const hasPrlimit = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('skipping the limit of files: no prlimit (Debian: util-linux)');

describe.runIf(hasPrlimit).each(RUNTIMES)('a process without free file descriptors, under %s', (runtime) => {
  it('runs on, and serves and sells again when connections end (reliability 210)', {
    timeout: 30_000,
  }, async () => {
    const jobs = await startJobsServer(runtime, { CONNECTIONS_MAX: '0' });
    const { server } = jobs;
    const account = wallet();
    const payment = await jobs.payment(jobs.search, account);
    const early = connect(server.port, '127.0.0.1').on('error', () => {});
    const sockets: Socket[] = [early];
    try {
      expect(await askOver(early, '/health')).toContain('200');
      const pid = server.child.pid!;
      const openCount = readdirSync(`/proc/${pid}/fd`).length;
      execFileSync('prlimit', ['--pid', String(pid), `--nofile=${openCount + SPARE_COUNT}:`]);
      for (let i = 0; i < CONNECTION_COUNT; i++) {
        const socket = connect(server.port, '127.0.0.1').on('error', () => {});
        socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
        sockets.push(socket);
      }
      // Longer than the pauses between two measurements of memory.
      await pause(1_500);
      expect(await askOver(early, UNKNOWN_PAYMENT)).toContain('STATE_UNAVAILABLE');
      expect(server.child.exitCode).toBeNull();
      for (const socket of sockets) socket.destroy();
      await expect.poll(() => readdirSync(`/proc/${pid}/fd`).length).toBeLessThan(openCount + SPARE_COUNT / 2);
      expect((await jobs.get('/metrics')).status).toBe(200);
      await expect.poll(async () => (await jobs.get(UNKNOWN_PAYMENT)).status).toBe(404);
      expectPaid(await jobs.pay(jobs.search, payment), account.address);
    } finally {
      for (const socket of sockets) socket.destroy();
      expect({ exitCode: await server.stop(), stderr: server.stderr() }).toMatchObject({ exitCode: 0 });
    }
  });

  it('turns payments away when its threads cannot start, and sells when they can (reliability 210)', {
    timeout: 30_000,
  }, async () => {
    const stateDir = join(testFolder(), 'state');
    const variables = { STATE_DIR: stateDir, LOG_LEVEL: 'warn' };
    await (await startServer(runtime, variables)).stop(); // another start of the same state writes nothing
    const entry = join(PROJECT, 'test/support/without-descriptors.ts');
    const server = await startServer({ binary: binaryOf(runtime), entry }, variables);
    const search = `${server.url}/v1/jobs/search?keyword=engineer`;
    const buyer = connect(server.port, '127.0.0.1');
    const headerOf = async (): Promise<string> => encodeHeader(await paymentFor(await offerOf(search), wallet()));
    const ready = async (): Promise<unknown> => (await fetch(`${server.url}/ready`)).json();
    try {
      const header = await headerOf();
      // Accepted while there are descriptors; from the signal on only this connection asks.
      expect(await askOver(buyer, '/health')).toContain(' 200 ');
      server.child.kill('SIGUSR2');
      const message = '"level":"error","message":"signatures are not verified as configured"';
      const fault = `${message},"fault":"the server accepts no payments: `;
      await expect.poll(() => server.stdout(), { timeout: 5_000 }).toContain(fault);
      const answer = await askOver(buyer, '/v1/jobs/search?keyword=engineer', `PAYMENT-SIGNATURE: ${header}\r\n`);
      expect(answer).toContain(' 503 ');
      expect(await askOver(buyer, '/v1/jobs/search?keyword=engineer')).toContain(' 503 ');
      expect(await askOver(buyer, '/ready')).toMatch(/"settlement": ?false/);
      server.child.kill('SIGUSR2');
      await expect.poll(ready, { timeout: 5_000 }).toMatchObject({ state: true, settlement: true });
      const isOver = 'signatures are verified as configured again';
      await expect.poll(() => server.stdout(), { timeout: 10_000 }).toContain(isOver);
      expect((await fetch(search, { headers: { 'PAYMENT-SIGNATURE': await headerOf() } })).status).toBe(200);
    } finally {
      buyer.destroy();
      expect({ exitCode: await server.stop(), stderr: server.stderr() }).toMatchObject({ exitCode: 0 });
    }
  });

  // Node reports it as an error of the thread.
  it.runIf(runtime === 'bun')(
    'does not end when connections take the last ones while a thread starts (reliability 210)',
    async () => {
      const entry = join(PROJECT, 'test/support/thread-beside-connections.ts');
      const ended = await startProcess(binaryOf(runtime), [entry]).ended;
      expect(ended).toMatchObject({ exitCode: 0, stdout: '20\n' });
    },
  );
});
