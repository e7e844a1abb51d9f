/**
 * The reader thread (a worker's entry): a second, read-only connection, so that reading pages of the books delays no
 * commit. It answers requests in their order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { resultOf } from './query-result.ts';
import { openReadOnly } from './read-only.ts';
import type { ReaderReply, ReaderRequest } from './reader-thread.ts';
import { answerTo } from './tables/tables.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const connection = openReadOnly(workerData as string);

port.on('message', ({ id, query }: ReaderRequest) => {
  const result = resultOf(() => answerTo(connection, query));
  port.postMessage({ id, result } satisfies ReaderReply);
});
