import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { onThreadEnd } from '../../src/base/thread-end.ts';

const lifeOf = (code: string): Promise<string[]> =>
  new Promise((resolve) => {
    const program = `import { parentPort } from 'node:worker_threads'; ${code}`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
    const life: string[] = [];
    worker.on('message', (message: string) => life.push(message));
    onThreadEnd(worker, 'the thread', (why) => resolve([...life, why]));
  });

it.each([
  ['parentPort.postMessage("last words")', ['last words', 'the thread ended']],
  ['parentPort.postMessage("last words"); process.exit(1)', ['last words', 'the thread ended']],
  [
    'setTimeout(() => { parentPort.postMessage("last words"); throw new Error("no\\nmore") }, 20)',
    ['last words', 'the thread failed: no'],
  ],
  ['let let', [expect.stringContaining('the thread failed: ')]],
])('says once, after the last message, why a thread ended: %s', async (code, life) => {
  expect(await lifeOf(code)).toEqual(life);
});
