/** The writer as a thread of this process: no sync, checkpoint or slow disk ever holds the main thread. */
import { Worker } from 'node:worker_threads';
import { QUIET_THREAD } from '../../base/quiet-thread.ts';
import type { OpenWriter, WriterReply } from './operations.ts';

/** Same ending as this file: run as it is or from the build. */
const WRITER = new URL(`./writer${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

export const openWriterThread: OpenWriter = (options, events) => {
  const worker = new Worker(WRITER, { workerData: options, ...QUIET_THREAD });
  worker.on('message', (reply: WriterReply) => events.onReply(reply));
  worker.on('error', (failure: Error) => events.onFailure(failure));
  worker.on('exit', () => events.onExit());
  worker.unref();
  return {
    post: (request) => worker.postMessage(request),
    setAwaited(isAwaited) {
      if (isAwaited) worker.ref();
      else worker.unref();
    },
    async terminate() {
      await worker.terminate();
    },
  };
};
