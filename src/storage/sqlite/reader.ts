/**
 * The reader thread (a worker's entry): a second, read-only connection, so that reading pages of the books delays no
 * commit. It answers requests in their order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/failure.ts';
import { openReadOnly } from './read-only.ts';
import type { ReaderReply, ReaderRequest } from './reader-thread.ts';
import { answerTo } from './tables/tables.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const connection = openReadOnly(workerData as string);

function replyTo({ id, query }: ReaderRequest): ReaderReply {
  try {
    return { id, found: answerTo(connection, query) };
  } catch (failure) {
    return { id, found: undefined, fault: messageOf(failure) };
  }
}

port.on('message', (request: ReaderRequest) => port.postMessage(replyTo(request)));
