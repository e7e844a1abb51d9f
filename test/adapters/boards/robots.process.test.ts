/** The robots.txt of a real server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { openWayOut } from '../../../src/cli/watch/way-out.ts';
import { targetList } from '../../../src/config/parsers.ts';

it('a robots.txt in a coding that was not asked for allows nothing', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.setHeader('content-encoding', 'zstd');
    response.end(zstdCompressSync('User-agent: *\nDisallow: /jobs'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const times = { clock: systemClock, timers: systemTimers, pauseMs: 0, draw: () => 0 };
  const { client } = openWayOut({ contact: null, targetAllow: targetList(host), ...times });
  const answer = await client.ask(
    { method: 'GET', url: `http://${host}/jobs`, body: null, accept: 'text/html' },
    { validators: null, bytesMax: 1000, signal: new AbortController().signal },
  );
  const reason = `the robots.txt of ${host} cannot be read: it came in a coding that was not asked for`;
  expect(answer).toMatchObject({ kind: 'failed', reason });
  expect(asked).toEqual(['/robots.txt']);
});
