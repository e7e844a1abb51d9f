/** A writer in the test's own thread, whose file the test keeps from growing: a disk that is full for a while. */
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import type { OpenWriter, WriterReply, WriterRequest } from '../../../src/storage/sqlite/writer-messages.ts';

/** The file cannot grow past `pageCountMax` pages, nor shrink below what it has. */
export const limitPages = ({ connection }: StateDatabase, pageCountMax: number): void =>
  connection.database.exec(`PRAGMA max_page_count = ${pageCountMax}`);

function replyOf(database: StateDatabase, request: WriterRequest): WriterReply {
  switch (request.kind) {
    case 'batch':
      return { kind: 'batch', result: database.apply(request.operations) };
    case 'read':
      return { kind: 'read', id: request.id, found: database.read(request.query) };
    case 'close':
      database.close();
      return { kind: 'closed' };
  }
}

export class SmallDisk {
  #database: StateDatabase | undefined;

  readonly openWriter: OpenWriter = (options, { onReply }) => {
    const database = new StateDatabase(options);
    this.#database = database;
    return {
      post(request) {
        const reply = replyOf(database, request);
        setImmediate(() => onReply(reply));
      },
      setAwaited() {},
      async terminate() {},
    };
  };

  /** Once the state has written. */
  limitPages(pageCountMax: number): void {
    if (this.#database === undefined) throw new Error('nothing has been written');
    limitPages(this.#database, pageCountMax);
  }
}
