/**
 * What is asked of the state's writer, as plain data that can cross to its thread. The operations of one batch take effect
 * together or not at all, in their order; only one that the database would never take is left out.
 */

import type { EventRecord } from '../../callback/event.ts';
import type { CallbackId } from '../../callback/identifier.ts';
import type { CallbackRecord } from '../../callback/inbox/store.ts';
import type { UsedAuthorization } from '../../payment/used-authorizations.ts';

/** A settlement that is about to begin. */
export interface Intent {
  readonly kind: 'intent';
  readonly serial: number;
  /** It will move play money: its end changes the play ledger's sums. */
  readonly isPlay: boolean;
  /** Lower case. */
  readonly payer: string;
  readonly valueAtomic: bigint;
  /** As `orderTextOf` writes it. */
  readonly order: string;
}

export type Operation =
  | Intent
  | { readonly kind: 'unknown'; readonly serial: number; readonly transaction: string }
  | { readonly kind: 'end'; readonly serial: number; readonly end: UsedAuthorization }
  | { readonly kind: 'release'; readonly serial: number }
  /** Used authorizations whose stay is over. */
  | { readonly kind: 'forget'; readonly serials: readonly number[] }
  | { readonly kind: 'callback'; readonly callback: CallbackRecord }
  | { readonly kind: 'event'; readonly callback: CallbackId; readonly event: EventRecord }
  | { readonly kind: 'delete-callback'; readonly id: CallbackId }
  | { readonly kind: 'expire-callback'; readonly id: CallbackId }
  /** Takes and frees some pages: whether the disk takes writes. */
  | { readonly kind: 'probe' };

/** Why a batch came to nothing, or may have. */
export type Fault =
  /** Certainly nothing of it is kept, and the next one may be: no space, read-only, locked by somebody. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** The disk failed where nobody knows what it kept: nothing more is written until the next start. */
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
  | { readonly kind: 'read'; readonly id: number; readonly callback: string; readonly eventId: string }
  | { readonly kind: 'limit'; readonly pageCountMax: number }
  | { readonly kind: 'close' };

export type WriterReply =
  | { readonly kind: 'batch'; readonly result: BatchResult }
  | { readonly kind: 'read'; readonly id: number; readonly event: EventRecord | undefined; readonly fault?: string }
  | { readonly kind: 'closed' };

/** Who carries requests out, one after another and in their order (a port). In production a thread of its own. */
export interface Writer {
  post(request: WriterRequest): void;
  /** Whether somebody waits for it: only then does it keep the process alive. */
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
