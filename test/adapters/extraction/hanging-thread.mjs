/** A thread that takes documents and never reads them; those at `/end` end it, and those at `/before` hang before their time runs. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ url, body }) => {
  if (url.endsWith('/end')) process.exit(1);
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (!url.endsWith('/before')) parentPort.postMessage({ kind: 'digest', sha256 });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
parentPort.postMessage({ kind: 'ready', thread: 1 });
