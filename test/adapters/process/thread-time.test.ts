/** The processor time of a thread, asked from another one while it is busy. */
import { platform } from 'node:os';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { ownThreadNumber, threadTimeMs } from '../../../src/adapters/process/thread-time.ts';

describe.runIf(platform() === 'linux')('the processor time of a thread', () => {
  it('rises as the thread works, and only its own', async () => {
    const module = JSON.stringify(new URL('../../../src/adapters/process/thread-time.ts', import.meta.url).href);
    const program = (work: string): string =>
      `import(${module}).then(({ ownThreadNumber }) => {
        require('node:worker_threads').parentPort.postMessage(ownThreadNumber());
        ${work}
      })`;
    const busy = new Worker(program('for (;;);'), { eval: true });
    const idle = new Worker(program('setInterval(() => {}, 1_000_000);'), { eval: true });
    const numberOf = (worker: Worker): Promise<number> =>
      new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    const [busyNumber, idleNumber] = await Promise.all([numberOf(busy), numberOf(idle)]);
    expect(new Set([busyNumber, idleNumber, ownThreadNumber()]).size).toBe(3);
    const startMs = threadTimeMs(busyNumber)!;
    await vi.waitFor(() => expect(threadTimeMs(busyNumber)!).toBeGreaterThan(startMs + 100), { timeout: 30_000 });
    expect(threadTimeMs(busyNumber)! - startMs).toBeGreaterThan(threadTimeMs(idleNumber)! - startMs);
    await Promise.all([busy.terminate(), idle.terminate()]);
  });

  it('is not known of a thread that does not exist', () => {
    expect(threadTimeMs(2 ** 31)).toBeUndefined();
    expect(threadTimeMs(undefined)).toBeUndefined();
  });
});
