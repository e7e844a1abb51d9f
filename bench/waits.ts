/**
 * Long polls of the whole application over real sockets: the memory that each held poll adds to the server's process,
 * and the time from sending a webhook to the answers of its waits, including its write to disk. The server is a
 * separate process under the same runtime.
 */
import { type Context, type Figure, figureOf, isBun, sized } from './harness.ts';
import { GROUP, groupCountFor, groupsOf, measureParked } from './parked.ts';
import { buyCallbacks, serveApplication } from './served.ts';

export async function measure({ size }: Context): Promise<Figure[]> {
  const waitCount = sized(size, 200, 10_000);
  const served = await serveApplication({ program: process.execPath, isBun, state: 'folder' });
  try {
    const groups = groupsOf(await buyCallbacks(served.port, groupCountFor(waitCount)));
    const { kib, uncollectedKib, heapKib, p99Ms, wakeMs } = await measureParked(served, groups, waitCount);
    return [
      { name: 'resident memory of a wait', value: kib, unit: 'KiB', note: `${waitCount} held, after a collection` },
      { name: 'the same, nothing collected', value: uncollectedKib, unit: 'KiB' },
      { name: 'heap of a wait', value: heapKib, unit: 'KiB' },
      figureOf(`from webhook to answer, ${GROUP} waiters each`, 'ms', [...wakeMs]),
      { name: 'the same, p99', value: p99Ms, unit: 'ms' },
    ];
  } finally {
    served.stop();
  }
}
