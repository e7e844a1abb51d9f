/**
 * One domain's part of the state file: its tables, the operations that change them and the queries that read them while
 * the server runs. Operations and queries are plain data for the writer thread; each names its table.
 *
 * A new domain is a file beside this one and a line in tables.ts.
 */
import type { Connection } from '../connection.ts';
import type { BatchSums } from './batch-sums.ts';

/** A change of the state file. Each table declares its own, with its own `kind`s. */
export interface Operation {
  readonly table: string;
  readonly kind: string;
}

/** A query of the state file, for a table's `read`. */
export interface Query {
  readonly table: string;
}

export interface Table<O extends Operation = Operation, Q extends Query = Query> {
  /** The name that its operations and queries carry. */
  readonly name: O['table'];
  /** SQL that creates its tables and indexes in an empty file. */
  readonly schema: string;
  /**
   * Applies an operation in the transaction of its batch.
   * @param sums the batch's sums, written before its commit
   * @throws Error for an operation that no database would accept
   */
  apply(connection: Connection, operation: O, sums: BatchSums): void;
  /** Answers a query; tables without queries omit it. @throws DamagedError */
  read?(connection: Connection, query: Q): unknown;
  /** Bytes of the bodies in an operation, for the journal's bounds; tables without bodies omit it. */
  bodyBytesOf?(operation: O): number;
  /**
   * A body that the main thread no longer needs once the operation is posted, or undefined. The journal transfers it to the
   * writer without a copy, so its view on the main thread becomes empty.
   */
  transferable?(operation: O): ArrayBuffer | undefined;
  /** Frees the bodies of an applied operation on the writer's side, where the garbage collector would free them late. */
  free?(operation: O): void;
}
