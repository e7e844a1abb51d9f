/** What is kept of long texts, under both runtimes: only a process on its own shows what an engine keeps in memory. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, RUNTIMES, type Runtime } from '../support/server.ts';

const TEXT_BYTES = 500_000;
const COUNT = 100;

/** Prints by how many bytes the process has grown with what was cut out of long texts. */
const scriptOf = (cut: string): string => `
const { EventEmitter } = await import('node:events');
const { systemClock } = await import('${PROJECT}/src/base/clock.ts');
const { systemRandom } = await import('${PROJECT}/src/base/random.ts');
const { digestOf } = await import('${PROJECT}/src/callback/read-token.ts');
const { PostgresCallbacks } = await import('${PROJECT}/src/storage/postgres/callbacks/callbacks.ts');
const { detached } = await import('${PROJECT}/src/base/detached.ts');
const { NodeExchange } = await import('${PROJECT}/src/adapters/listen/node-exchange.ts');
const { HttpRequestView } = await import('${PROJECT}/src/app/request.ts');
const collect = globalThis.Bun?.gc ?? globalThis.gc;
// Node gives freed memory back late.
const size = () => {
  const { rss, heapUsed, external } = process.memoryUsage();
  return globalThis.Bun === undefined ? heapUsed + external : rss;
};
const kept = [];
async function readSharedCallback(id) {
  const found = { token_digest: digestOf('token'), expires_ms: 1e15, now_ms: 0 };
  const database = { run: async () => [found], fault: () => undefined };
  const rateLimits = { open: () => ({ tryPass: (name) => kept.push(name) - kept.length }) };
  const ports = { database, rateLimits, clock: systemClock, random: systemRandom, processId: 'p' };
  const { kind } = await new PostgresCallbacks(1e9, ports).admitRead(id, 'token');
  if (kind !== 'allowed') throw new Error(kind);
}
async function readRequest(text) {
  const incoming = new EventEmitter();
  const reading = new NodeExchange('/', incoming, {}).readAtMost(text.length);
  incoming.emit('data', Buffer.from(text));
  incoming.emit('end');
  await reading;
  return incoming;
}
collect(true);
const before = size();
for (let i = 0; i < ${COUNT}; i++) {
  const text = new TextDecoder().decode(Buffer.alloc(${TEXT_BYTES}, 'x')) + ',203.0.113.' + (i + 10);
  kept.push(${cut});
  if (i % 20 === 0) collect(globalThis.Bun !== undefined);
}
collect(globalThis.Bun !== undefined);
console.log(kept.length && size() - before);
`;

function expectNothingKept(runtime: Runtime, cut: string): void {
  const script = scriptOf(cut);
  const words = runtime === 'node' ? ['--expose-gc', '--input-type=module', '-e', script] : ['-e', script];
  const { stdout } = spawnSync(binaryOf(runtime), words, { encoding: 'utf8' });
  expect(Number.parseInt(stdout, 10)).toBeLessThan((TEXT_BYTES * COUNT) / 2);
}

describe.each(RUNTIMES)('under %s nothing of a long text is kept', (runtime) => {
  it.each([
    ['by a copy of a part', 'detached(text.slice(1000, 1030))'],
    [
      'by the client network of a forwarded address',
      `new HttpRequestView({}, { path: '/', search: '' }, {}, 0, { address: '', header: () => text }, { trustProxy: true }).clientNetwork()`,
    ],
    ['by the count of reads of a callback that processes share', 'await readSharedCallback(text.slice(1000, 1039))'],
  ])('%s', (_, cut) => {
    expectNothingKept(runtime, cut);
  });
});

it('a request of node:http does not keep the body that was read from it', () => {
  expectNothingKept('node', 'await readRequest(text)');
});
