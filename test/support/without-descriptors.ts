/**
 * An entry that serves as `src/main.ts` does, except that no file descriptor is free when the parts that start late start, as
 * when connections have taken all of them. SIGUSR2 gives them back.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { LATE_START_MS } from '../../src/base/late-start.ts';

const taken: number[] = [];

function takeAll(): void {
  if (taken.length > 0) return;
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=256:']);
  try {
    for (;;) taken.push(openSync(devNull, 'r'));
  } catch {
    // none is left
  }
}

process.on('SIGUSR2', () => {
  for (const descriptor of taken.splice(0)) closeSync(descriptor);
});

const after = globalThis.setTimeout;
globalThis.setTimeout = ((run: () => void, delayMs?: number) => {
  if (delayMs !== LATE_START_MS) return after(run, delayMs);
  return after(() => {
    takeAll();
    run();
  }, delayMs);
}) as typeof setTimeout;

await import('../../src/main.ts');
