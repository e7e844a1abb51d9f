/** The state's writer in the thread of its caller. */
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import { resultOf } from '../../src/storage/sqlite/query-result.ts';
import type { OpenWriter, WriterReply, WriterRequest } from '../../src/storage/sqlite/writer-messages.ts';

function replyOf(database: StateDatabase, request: WriterRequest): WriterReply {
  switch (request.kind) {
    case 'batch':
      return { kind: 'batch', result: database.apply(request.operations) };
    case 'read':
      return { kind: 'read', id: request.id, result: resultOf(() => database.read(request.query)) };
    case 'close':
      database.close();
      return { kind: 'closed' };
  }
}

/** @param onOpen gets what the writer writes to */
export const inlineWriter =
  (onOpen: (database: StateDatabase) => void = () => {}): OpenWriter =>
  (options, { onReply }) => {
    const database = new StateDatabase(options);
    onOpen(database);
    return {
      post(request) {
        const reply = replyOf(database, request);
        setImmediate(() => onReply(reply));
      },
      setAwaited() {},
      async terminate() {},
    };
  };

/** The file cannot grow past `pageCountMax` pages, nor shrink below what it has. */
export const limitPages = ({ connection }: StateDatabase, pageCountMax: number): void =>
  connection.exec(`PRAGMA max_page_count = ${pageCountMax}`);
