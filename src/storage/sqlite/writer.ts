/**
 * The writer thread (a worker's entry): owns the one connection that writes the state, so that no sync, checkpoint or slow
 * disk ever holds the main thread. Requests are answered in their order.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { StateDatabase } from './database.ts';
import type { DatabaseOptions, WriterReply, WriterRequest } from './operations.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const database = new StateDatabase(workerData as DatabaseOptions);
const reply = (message: WriterReply): void => port.postMessage(message);

function read(id: number, callback: string, eventId: string): WriterReply {
  try {
    return { kind: 'read', id, event: database.readEvent(callback, eventId) };
  } catch (failure) {
    const fault = failure instanceof Error ? failure.message : String(failure);
    return { kind: 'read', id, event: undefined, fault };
  }
}

/** A body that the database has is of no more use: the collector would come for it some 60 MB later. */
function freeAtOnce({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

port.on('message', (request: WriterRequest) => {
  switch (request.kind) {
    case 'batch': {
      const result = database.apply(request.operations);
      for (const operation of request.operations) if (operation.kind === 'event') freeAtOnce(operation.event.bytes);
      reply({ kind: 'batch', result });
      return;
    }
    case 'read':
      reply(read(request.id, request.callback, request.eventId));
      return;
    case 'limit':
      database.limitPages(request.pageCountMax);
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
