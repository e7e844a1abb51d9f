/**
 * What the journal asks of the state's writer, as plain data that can cross to its thread. The operations of one batch take
 * effect together or not at all, in their order; the writer leaves out only one that the database would never take.
 */
import type { Operation, Query } from './tables/table.ts';

/** Why a batch failed, or may have. */
export type Fault =
  /** Certainly nothing of it is kept, and the next one may succeed: no space, read-only, locked by another program. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The disk failed and may have kept part of it: nothing more is written until the next start. */
  | { readonly kind: 'broken'; readonly detail: string; readonly isInDoubt: boolean };

/** An operation that the database does not take, whatever the disk: a bug of ours. The others of its batch are kept. */
export interface RefusedOperation {
  /** Its place in the batch. */
  readonly index: number;
  readonly detail: string;
}

export type BatchResult = { readonly kind: 'done'; readonly refused: readonly RefusedOperation[] } | Fault;

/** How the database is opened. */
export interface DatabaseOptions {
  readonly path: string;
  /** `full`: a commit waits for the disk. `normal`: it waits for the system only. */
  readonly sync: 'full' | 'normal';
  /** Milliseconds added to each commit, for tests and benches: a slower disk. */
  readonly commitDelayMs?: number | undefined;
  /** Pages that the file may grow to, for tests: a smaller disk. */
  readonly pageCountMax?: number | undefined;
}

export type WriterRequest =
  | { readonly kind: 'batch'; readonly operations: readonly Operation[] }
  | { readonly kind: 'read'; readonly id: number; readonly query: Query }
  | { readonly kind: 'limit'; readonly pageCountMax: number }
  | { readonly kind: 'close' };

export type WriterReply =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  | { readonly kind: 'read'; readonly id: number; readonly found: unknown; readonly fault?: string }
  | { readonly kind: 'closed' };

/** Carries requests out, one after another and in their order (a port). In production a separate thread. */
export interface Writer {
  post(request: WriterRequest): void;
  /** While it is awaited, it keeps the process alive. */
  setAwaited(isAwaited: boolean): void;
  /** Ends it at once. What it was doing is done or not, whole. */
  terminate(): Promise<void>;
}

export interface WriterEvents {
  /** One for each batch, read and close. Never called within `post`. */
  onReply(reply: WriterReply): void;
  /** It cannot go on; nothing more is answered. */
  onFailure(failure: Error): void;
  /** It has ended, whether it was asked to or not. */
  onExit(): void;
}

export type OpenWriter = (options: DatabaseOptions, events: WriterEvents) => Writer;
