/**
 * An entry that serves as `src/main.ts` does, except that the parts that start late wait for SIGUSR2, which first takes all file
 * descriptors, as connections might. A second SIGUSR2 gives them back.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { LATE_START_MS } from '../../src/base/late-start.ts';

const taken: number[] = [];
/** Late starts; undefined after the first signal. */
let waiting: (() => void)[] | undefined = [];

function takeAll(): void {
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=256:']);
  try {
    for (;;) taken.push(openSync(devNull, 'r'));
  } catch {
    // none is left
  }
}

process.on('SIGUSR2', () => {
  if (waiting === undefined) {
    for (const descriptor of taken.splice(0)) closeSync(descriptor);
    return;
  }
  const late = waiting;
  waiting = undefined;
  takeAll();
  for (const run of late) run();
});

const after = globalThis.setTimeout;
globalThis.setTimeout = ((run: () => void, delayMs?: number) => {
  if (delayMs !== LATE_START_MS || waiting === undefined) return after(run, delayMs);
  waiting.push(run);
  return after(() => {}, delayMs);
}) as typeof setTimeout;

await import('../../src/main.ts');
