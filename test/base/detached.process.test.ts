/** Copies of short texts, under both runtimes: only a process on its own shows what an engine keeps in memory. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { binaryOf, PROJECT, RUNTIMES } from '../support/server.ts';

const TEXT_BYTES = 500_000;
const COUNT = 200;

/** Prints by how many bytes the process has grown with copies from long texts. */
const SCRIPT = `
const { detached } = await import('${PROJECT}/src/base/detached.ts');
const collect = globalThis.Bun?.gc ?? globalThis.gc;
const kept = [];
collect(true);
const before = process.memoryUsage.rss();
for (let i = 0; i < ${COUNT}; i++) {
  kept.push(detached(new TextDecoder().decode(Buffer.alloc(${TEXT_BYTES}, 'x')).slice(1000, 1030)));
  if (i % 20 === 0) collect(globalThis.Bun !== undefined);
}
collect(globalThis.Bun !== undefined);
console.log(kept.length && process.memoryUsage.rss() - before);
`;

it.each(RUNTIMES)('a copy keeps nothing of the text that it was cut from, under %s', (runtime) => {
  const words = runtime === 'node' ? ['--expose-gc', '--input-type=module', '-e', SCRIPT] : ['-e', SCRIPT];
  const { stdout } = spawnSync(binaryOf(runtime), words, { encoding: 'utf8' });
  expect(Number.parseInt(stdout, 10)).toBeLessThan((TEXT_BYTES * COUNT) / 2);
});
