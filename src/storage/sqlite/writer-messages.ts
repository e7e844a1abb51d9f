/**
 * The messages between journal and writer, as plain data that can cross threads. The operations of one batch take
 * effect in order, all or none; the writer omits only an operation that the database would never accept.
 */
import type { HeldFile } from './held-files.ts';
import type { QueryResult } from './query-result.ts';
import type { Operation, Query } from './tables/table.ts';

/** Why a batch failed or may have failed. */
export type Fault =
  /** Certainly nothing of the batch is stored, and the next one may succeed: no space, read-only, locked by another program. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The disk failed and may have stored part of the batch, or the file was moved: this process writes nothing more. */
  | { readonly kind: 'broken'; readonly detail: string; readonly isInDoubt: boolean };

/** An operation that the database refuses for its own fault. The writer commits the others of its batch. */
export interface RefusedOperation {
  /** Its index in the batch. */
  readonly index: number;
  readonly detail: string;
  /** False: it met a damaged record. */
  readonly isBug: boolean;
}

export type BatchResult = { readonly kind: 'done'; readonly refused: readonly RefusedOperation[] } | Fault;

/** Options of the database. */
export interface DatabaseOptions {
  readonly path: string;
  /** `full`: a commit waits for the disk. `normal`: it waits for the system only. */
  readonly sync: 'full' | 'normal';
  /** Files that must stay where they are; once one does not, nothing more is written. */
  readonly held?: readonly HeldFile[] | undefined;
  /** Milliseconds added to each commit, for tests and benches: a slower disk. */
  readonly commitDelayMs?: number | undefined;
}

export type WriterRequest =
  | { readonly kind: 'batch'; readonly operations: readonly Operation[] }
  | { readonly kind: 'read'; readonly id: number; readonly query: Query }
  | { readonly kind: 'close' };

export type WriterReply =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  | { readonly kind: 'read'; readonly id: number; readonly result: QueryResult }
  | { readonly kind: 'closed' };

/** What the writer's thread sends: first that the file is open, then its replies. */
export type WriterMessage = { readonly kind: 'opened' } | WriterReply;

/** Carries out requests one after another, in order (a port). In production it is a separate thread. */
export interface Writer {
  post(request: WriterRequest): void;
  /** Sets whether the writer keeps the process alive. */
  setAwaited(isAwaited: boolean): void;
  /** Ends the writer at once; a batch in flight is committed as a whole or not at all. */
  terminate(): Promise<void>;
}

export interface WriterEvents {
  /** Called once for each batch, read and close, never within `post`. */
  onReply(reply: WriterReply): void;
  /** The writer has ended before it could open the file: nothing is stored, and another may be opened. @param why one line */
  onUnopened(why: string): void;
  /** The open writer has ended, on request or not, and answers no more requests. @param why one line */
  onEnd(why: string): void;
}

export type OpenWriter = (options: DatabaseOptions, events: WriterEvents) => Writer;
