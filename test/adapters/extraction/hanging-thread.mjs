/** A thread that takes documents and never reads them; the second kind of document ends it. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ url }) => {
  if (url.endsWith('/end')) process.exit(1);
  for (;;);
});
parentPort.postMessage({ kind: 'ready' });
