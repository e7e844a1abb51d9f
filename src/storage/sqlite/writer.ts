/**
 * The writer thread (a worker's entry): owns the one connection that writes the state, so that no sync, checkpoint or
 * slow disk ever blocks the main thread. It answers requests in their order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { StateDatabase } from './database.ts';
import { resultOf } from './query-result.ts';
import { tableOf } from './tables/tables.ts';
import type { DatabaseOptions, WriterMessage, WriterRequest } from './writer-messages.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const database = new StateDatabase(workerData as DatabaseOptions);
const reply = (message: WriterMessage): void => port.postMessage(message);
reply({ kind: 'opened' });

port.on('message', (request: WriterRequest) => {
  switch (request.kind) {
    case 'batch': {
      const result = database.apply(request.operations);
      for (const operation of request.operations) tableOf(operation).free?.(operation);
      reply({ kind: 'batch', result });
      return;
    }
    case 'read':
      reply({ kind: 'read', id: request.id, result: resultOf(() => database.read(request.query)) });
      return;
    case 'close':
      try {
        database.close();
      } finally {
        reply({ kind: 'closed' });
      }
      port.close();
      return;
    default:
      request satisfies never;
  }
});
