/**
 * Full callbacks, with ten events of 262,144 bytes each, in the whole application as `serve` runs it, its state in a
 * folder: the memory of the process while the events come in, and when all are stored. Long bodies live in the state on
 * disk and not in memory, so a thousand such callbacks (2.6 GB) have to fit in 0.3 GB.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { type Context, type Figure, figureOf, isBun, sized } from './harness.ts';
import { type BoughtCallback, buyCallbacks, residentBytesOf, serveApplication } from './served.ts';

const EVENT_COUNT = 10;
const EVENT_BYTES = 262_144;
/** Webhooks under way at a time. */
const AT_ONCE = 8;
const MIB = 2 ** 20;

interface Filled {
  readonly startMib: number;
  readonly filledMib: number;
  readonly collectedMib: number;
  readonly peakMib: number;
  readonly readMib: number;
  readonly webhooksASecond: number;
}

/** JSON of exactly EVENT_BYTES. */
function bodyOf(n: number): string {
  const frame = `{"n":${n},"text":""}`;
  return `{"n":${n},"text":"${'x'.repeat(EVENT_BYTES - frame.length)}"}`;
}

async function fill(url: string, callbacks: readonly BoughtCallback[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < callbacks.length * EVENT_COUNT; n = next++) {
      const { id } = callbacks[n % callbacks.length]!;
      const posted = await fetch(`${url}/hooks/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bodyOf(n),
      });
      await posted.arrayBuffer();
      deepStrictEqual(posted.status, 200);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function checkFull(url: string, { id, token }: BoughtCallback): Promise<void> {
  const read = await fetch(`${url}/v1/callbacks/${id}/events`, { headers: { authorization: `Bearer ${token}` } });
  const { events } = (await read.json()) as { events: { size_bytes: number }[] };
  deepStrictEqual(
    events.map(({ size_bytes }) => size_bytes),
    Array.from({ length: EVENT_COUNT }, () => EVENT_BYTES),
  );
}

async function filled(count: number): Promise<Filled> {
  const served = await serveApplication({ program: process.execPath, isBun, state: 'folder' });
  try {
    const url = `http://127.0.0.1:${served.port}`;
    const callbacks = await buyCallbacks(served.port, count);
    const startMib = residentBytesOf(served.pid).now / MIB;
    const startMs = performance.now();
    await fill(url, callbacks);
    const webhooksASecond = (count * EVENT_COUNT * 1000) / (performance.now() - startMs);
    const { now, peak } = residentBytesOf(served.pid);
    const { residentBytes } = await served.memory();
    for (const callback of [callbacks[0]!, callbacks.at(-1)!]) await checkFull(url, callback);
    return {
      startMib,
      filledMib: now / MIB,
      collectedMib: residentBytes / MIB,
      peakMib: peak / MIB,
      readMib: residentBytesOf(served.pid).peak / MIB,
      webhooksASecond,
    };
  } finally {
    served.stop();
  }
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const count = sized(size, 5, 1_000);
  const rounds: Filled[] = [];
  for (let round = 0; round < sized(size, 1, 3); round++) rounds.push(await filled(count));
  const of = (name: keyof Filled): number[] => rounds.map((each) => each[name]);
  return [
    figureOf('process before the first webhook', 'MiB', of('startMib'), `${count} callbacks, whole process`),
    figureOf('process at its peak, being filled', 'MiB', of('peakMib'), 'at most 286 (0.3 GB) for 1000'),
    figureOf('process when all are full', 'MiB', of('filledMib')),
    figureOf('the same, collected', 'MiB', of('collectedMib')),
    figureOf('peak, two of them read whole', 'MiB', of('readMib')),
    figureOf('webhooks of 256 KiB', '/s', of('webhooksASecond')),
  ];
}
