/** The writer as a thread of this process: no sync, checkpoint or slow disk ever blocks the main thread. */
import { startThread } from '../../base/start-thread.ts';
import { onThreadEnd } from '../../base/thread-end.ts';
import { tableOf } from './tables/tables.ts';
import type { OpenWriter, WriterMessage, WriterRequest } from './writer-messages.ts';

const WRITER = new URL('./writer.ts', import.meta.url);

/** The bodies that the main thread gives away with a request, see `Table.transferable`. */
function transferablesOf(request: WriterRequest): ArrayBuffer[] {
  if (request.kind !== 'batch') return [];
  const bodies: ArrayBuffer[] = [];
  for (const operation of request.operations) {
    const body = tableOf(operation).transferable?.(operation);
    if (body !== undefined) bodies.push(body);
  }
  return bodies;
}

export const openWriterThread: OpenWriter = (options, events) => {
  const worker = startThread(WRITER, { workerData: options });
  let isOpen = false;
  worker.on('message', (reply: WriterMessage) => {
    if (reply.kind === 'opened') isOpen = true;
    else events.onReply(reply);
  });
  onThreadEnd(worker, 'the writer', (why) => (isOpen ? events.onEnd(why) : events.onUnopened(why)));
  worker.unref();
  return {
    post: (request) => worker.postMessage(request, transferablesOf(request)),
    setAwaited(isAwaited) {
      if (isAwaited) worker.ref();
      else worker.unref();
    },
    async terminate() {
      await worker.terminate();
    },
  };
};
