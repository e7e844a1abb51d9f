/** The writer as a thread of this process: no sync, checkpoint or slow disk ever holds the main thread. */
import { Worker } from 'node:worker_threads';
import { QUIET_THREAD } from '../../base/quiet-thread.ts';
import type { OpenWriter, WriterReply, WriterRequest } from './operations.ts';

/** Same ending as this file: run as it is or from the build. */
const WRITER = new URL(`./writer${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

/**
 * The bodies that nobody reads here any more: a long event lives in the state alone. Given away and not copied, they take
 * their memory once and not twice; what is left here is empty.
 */
function givenAway(request: WriterRequest): ArrayBuffer[] {
  if (request.kind !== 'batch') return [];
  const bodies: ArrayBuffer[] = [];
  for (const operation of request.operations) {
    if (operation.kind !== 'event' || operation.event.isInline) continue;
    const { buffer, byteLength } = operation.event.bytes;
    // A view of something larger belongs to somebody else too.
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) bodies.push(buffer);
  }
  return bodies;
}

export const openWriterThread: OpenWriter = (options, events) => {
  const worker = new Worker(WRITER, { workerData: options, ...QUIET_THREAD });
  worker.on('message', (reply: WriterReply) => events.onReply(reply));
  worker.on('error', (failure: Error) => events.onFailure(failure));
  worker.on('exit', () => events.onExit());
  worker.unref();
  return {
    post: (request) => worker.postMessage(request, givenAway(request)),
    setAwaited(isAwaited) {
      if (isAwaited) worker.ref();
      else worker.unref();
    },
    async terminate() {
      await worker.terminate();
    },
  };
};
