/** Entry of an extraction thread: it reads one document after the other, and is ended from outside when one takes too long. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { stackOf } from '../../base/failure.ts';
import { extract } from '../../resolve/extraction/extract.ts';
import type { ThreadReply, ThreadTask } from './extraction-wire.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const reply = (message: ThreadReply): void => port.postMessage(message);

port.on('message', (task: ThreadTask) => {
  reply({ kind: 'digest', sha256: createHash('sha256').update(task.body).digest('hex') });
  try {
    reply({ kind: 'content', content: extract(task) });
  } catch (failure) {
    reply({ kind: 'failed', detail: stackOf(failure) });
  }
});
reply({ kind: 'ready' });
