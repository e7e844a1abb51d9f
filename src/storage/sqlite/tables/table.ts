/**
 * What one domain keeps in the state file: its tables, the operations that change them and the queries that read them back
 * while the server runs. Operations and queries are plain data that cross to the writer thread; each names its table.
 *
 * A new domain is a file beside this one and a line in tables.ts.
 */
import type { Connection } from '../connection.ts';

/** A change of the state file. Each table declares its own, with its own `kind`s. */
export interface Operation {
  readonly table: string;
  readonly kind: string;
}

/** A question to the state file, for a table's `read`. */
export interface Query {
  readonly table: string;
}

export interface Table<O extends Operation = Operation, Q extends Query = Query> {
  /** The name that its operations and queries carry. */
  readonly name: O['table'];
  /** SQL that creates its tables and indexes in an empty file. */
  readonly schema: string;
  /** Carries an operation out, inside the transaction of its batch. @throws Error for one that no disk could take */
  apply(connection: Connection, operation: O): void;
  /** Answers a query; left out by a table that nothing reads while the server runs. @throws DamagedError */
  read?(connection: Connection, query: Q): unknown;
  /** Bytes of bodies in an operation, for the journal's bounds; left out where there are none. */
  bodyBytesOf?(operation: O): number;
  /**
   * A body that the main thread no longer needs once the operation is posted, or undefined. It is transferred to the writer
   * and not copied, so that it takes its memory once; its view on the main thread becomes empty.
   */
  transferable?(operation: O): ArrayBuffer | undefined;
  /** Frees the bodies of an operation that was applied, on the writer's side; the collector would come for them late. */
  free?(operation: O): void;
}
