/**
 * The writer thread (a worker's entry): owns the one connection that writes the state, so that no sync, checkpoint or
 * slow disk ever blocks the main thread. It answers requests in their order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/failure.ts';
import { StateDatabase } from './database.ts';
import type { Query } from './tables/table.ts';
import { tableOf } from './tables/tables.ts';
import type { DatabaseOptions, WriterMessage, WriterReply, WriterRequest } from './writer-messages.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const database = new StateDatabase(workerData as DatabaseOptions);
const reply = (message: WriterMessage): void => port.postMessage(message);
reply({ kind: 'opened' });

function read(id: number, query: Query): WriterReply {
  try {
    return { kind: 'read', id, found: database.read(query) };
  } catch (failure) {
    const fault = messageOf(failure);
    return { kind: 'read', id, found: undefined, fault };
  }
}

port.on('message', (request: WriterRequest) => {
  switch (request.kind) {
    case 'batch': {
      const result = database.apply(request.operations);
      for (const operation of request.operations) tableOf(operation).free?.(operation);
      reply({ kind: 'batch', result });
      return;
    }
    case 'read':
      reply(read(request.id, request.query));
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
