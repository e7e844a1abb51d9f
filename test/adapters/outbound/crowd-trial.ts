/**
 * 10,000 requests due at once to 1,000 hosts of which every tenth never answers, through the guarded client, as a
 * process of its own. Prints one JSON object of what was seen up to the moment when the last request to the others was sent.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { userAgentOf } from '../../../src/adapters/outbound/exchange.ts';
import { OutboundClient } from '../../../src/adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { SystemResolver } from '../../../src/adapters/outbound/resolver.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { targetList } from '../../../src/config/parsers.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { waitedMs } from '../../support/processor-time.ts';

const HOSTS = 1000;
const REQUESTS = 10_000;
const CUSTOMERS = 7;
/** A little more than two seconds: the client looks when a slot is free. */
const SILENT_MS = 2100;
const isHanging = (host: number): boolean => host % 10 === 0;
/** Every host is a loopback address of one server. */
const hostOf = (address: string): number => {
  const [, , high, low] = address.split('.').map(Number);
  return (high ?? 0) * 256 + (low ?? 0);
};

if (process.argv[2] === 'server') {
  const server = createServer((request, response) => {
    if (!isHanging(hostOf(request.socket.localAddress ?? ''))) setTimeout(() => response.end('ok'), 20);
  });
  server.listen({ port: 0, host: '0.0.0.0', backlog: 8192 }, () => process.send?.(server.address()));
} else {
  const server = fork(process.argv[1] as string, ['server']);
  const { port } = await new Promise<{ port: number }>((resolve) => {
    server.once('message', (address) => resolve(address as { port: number }));
  });
  const own = { urls: [], hookBaseUrl: 'https://hooks.example.com', listening: { ranges: [], port: 1 } };
  const userAgent = userAgentOf(null);
  const client = new OutboundClient({
    policy: new OutboundPolicy({ own, allow: targetList(`127.0.0.0/8:${port}`) }),
    concurrency: 1024,
    resolver: new SystemResolver({ clock: systemClock, timers: systemTimers }),
    ownHooks: new OwnHooks(() => new Response(), own.hookBaseUrl, userAgent),
    clock: systemClock,
    timers: systemTimers,
    userAgent,
  });
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const waitedBeforeMs = waitedMs();
  const firstMs = new Map<number, number>();
  const sentMs: number[] = [];
  let lateToSilent = 0;
  const onSent = (host: number): void => {
    const ms = performance.now() - startMs;
    const first = firstMs.get(host) ?? ms;
    firstMs.set(host, first);
    if (!isHanging(host)) sentMs.push(ms);
    else if (ms - first > SILENT_MS) lateToSilent++;
    if (sentMs.length < (REQUESTS * 9) / 10) return;
    sentMs.sort((a, b) => a - b);
    const at = (share: number): number => Math.round(sentMs[Math.floor(share * (sentMs.length - 1))] ?? 0);
    const { user, system } = process.cpuUsage(cpu);
    const cpuMs = Math.round((user + system) / 1000);
    const rssMiB = Math.round(process.memoryUsage.rss() / 1_048_576);
    const waited = Math.round(waitedMs() - waitedBeforeMs);
    const seen = { p50: at(0.5), p99: at(0.99), last: at(1), waited, lateToSilent, cpuMs, rssMiB };
    server.kill();
    process.stdout.write(JSON.stringify(seen), () => process.exit(0));
  };
  for (let i = 0; i < REQUESTS; i++) {
    const host = i % HOSTS;
    const judged = client.policy.judge(`http://127.1.${host >> 8}.${host & 255}:${port}/`, 'retry');
    if (!judged.ok) throw new Error(judged.reason);
    void client.send({
      target: judged.target,
      method: 'GET',
      headers: [],
      body: null,
      timeoutMs: 15_000,
      customer: `c${i % CUSTOMERS}`,
      wireBytesMax: 65_536,
      unpackedBytesMax: 65_536,
      onSent: () => onSent(host),
    });
  }
}
