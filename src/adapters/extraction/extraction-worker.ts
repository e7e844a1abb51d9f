/** Entry of an extraction thread: it reads one document after the other, and is ended from outside when one takes too long. */
import { createHash } from 'node:crypto';
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { stackOf } from '../../base/failure.ts';
import { extract } from '../../resolve/extraction/extract.ts';
import { ownThreadNumber } from '../process/thread-time.ts';
import type { ThreadReply, ThreadTask } from './extraction-wire.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const reply = (message: ThreadReply): void => port.postMessage(message);

/** More than that of the process: where processors are few, the loop that answers goes before the reading of pages. */
const NICENESS_MORE = 10;
const NICENESS_MAX = 19;

// On Linux each thread has a niceness (setpriority(2)); elsewhere the whole process would take this one.
if (platform() === 'linux') setPriority(Math.min(NICENESS_MAX, getPriority() + NICENESS_MORE));

port.on('message', (task: ThreadTask) => {
  reply({ kind: 'digest', sha256: createHash('sha256').update(task.body).digest('hex') });
  try {
    reply({ kind: 'content', content: extract(task) });
  } catch (failure) {
    reply({ kind: 'failed', detail: stackOf(failure) });
  }
});
reply({ kind: 'ready', thread: ownThreadNumber() });
