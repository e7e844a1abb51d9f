/**
 * Group commit: operations that arrive in one turn of the loop, or while a commit is in flight, share the next transaction
 * and its one sync; each promise resolves when its own batch is on disk. One batch is in flight at a time.
 *
 * Faults (reliability 266 to 268). `refused`: no space, read-only, busy, or the writer cannot be opened because connections
 * have taken all file descriptors; the journal still tries every later batch and sends a probe each second, and one success
 * ends the fault. `broken`: a file of the folder is no longer where it was opened, or an I/O error after which the disk may
 * hold anything; this process writes nothing more, since the sync after a failed one may report success although the data
 * is lost. A commit that takes longer than {@link SLOW_COMMIT_MS} counts as `refused` from then on, although what it writes counts
 * too: a disk that is slow each time must not be sold on between two commits. Time in which this process stood still (SIGSTOP, a
 * suspended machine, no processor) is no time of the disk's.
 */
import type { Clock } from '../../base/clock.ts';
import { firstLineOf } from '../../base/failure.ts';
import { RecordInDoubtError } from '../../base/outage.ts';
import { MIB } from '../../base/sizes.ts';
import type { Timers } from '../../base/timers.ts';
import { foundIn, type QueryResult } from './query-result.ts';
import { RequestRefusedError, StateRefusedError } from './refused.ts';
import { PROBE } from './tables/probe.ts';
import type { Operation, Query } from './tables/table.ts';
import { tableOf } from './tables/tables.ts';
import type {
  BatchResult,
  DatabaseOptions,
  OpenWriter,
  Writer,
  WriterReply,
  WriterRequest,
} from './writer-messages.ts';
import { openWriterThread } from './writer-thread.ts';

/**
 * Most operations that may wait; beyond it the journal refuses new ones. More than all connections of a full server
 * need at once.
 */
const QUEUE_COUNT_MAX = 16_384;
/** Bytes of bodies that may wait for a slow disk. */
const QUEUE_BYTES_MAX = 128 * MIB;
/** Operations of one transaction, and bytes of their bodies: they bound how long the next ones wait. */
const BATCH_COUNT_MAX = 4_096;
const BATCH_BYTES_MAX = 16 * MIB;
/** reliability 268: with a slower disk the server accepts no payments. */
const SLOW_COMMIT_MS = 2000;
const SLOW = `the disk takes longer than ${SLOW_COMMIT_MS} ms for a write to the state`;
const PROBE_PAUSE_MS = 1000;
/** Between two looks at the commit in flight. */
const WATCH_MS = 500;
/**
 * A look that is later shows that the process stood still. Below that its loop is only busy, and still takes payments (`IS_SEVERE` of
 * overload), so all time counts: a busy server must find a slow disk too.
 */
const STILL_MS = 500;

interface Waiting {
  readonly operation: Operation;
  readonly resolve: () => void;
  readonly reject: (failure: Error) => void;
}

export interface JournalPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called when the state becomes unwritable (with a line for the log) or writable again (undefined). */
  readonly onStateFault: (fault: string | undefined) => void;
  /** Calls `run` after the I/O of this turn; `setImmediate` when not given. */
  readonly soon?: ((run: () => void) => void) | undefined;
  /** Opens the writer; a thread when not given. */
  readonly openWriter?: OpenWriter | undefined;
}

const bytesOf = (operation: Operation): number => tableOf(operation).bodyBytesOf?.(operation) ?? 0;

export class Journal {
  readonly #ports: JournalPorts;
  readonly #soon: (run: () => void) => void;
  readonly #openWriter: () => Writer;
  #writer: Writer | undefined;
  #isOpening = false;
  /** Requests to the writer that came before it was open. */
  #early: WriterRequest[] = [];
  #queue: Waiting[] = [];
  #queueBytes = 0;
  #inFlight: readonly Waiting[] = [];
  /** When the commit in flight started; later by as long as the process has stood still since. */
  #startedMs: number | undefined;
  /** When the watch has looked again, unless the process stands still. */
  #watchMs = 0;
  #isScheduled = false;
  readonly #readings = new Map<number, (result: QueryResult) => void>();
  #readCount = 0;
  /** Why the last commit failed or was slow; one that succeeds in time ends it. */
  #refused: string | undefined;
  #broken: string | undefined;
  /** The writer's thread has ended. */
  #hasEnded = false;
  #cancelProbe: (() => void) | undefined;
  #cancelWatch: (() => void) | undefined;
  /** The fault that was reported last. */
  #reported: string | undefined;
  #onIdle: (() => void) | undefined;
  #onClosed: (() => void) | undefined;
  #isClosing = false;
  /** Committed batches, and operations in them; for the metrics and the benches. */
  batchCount = 0;
  operationCount = 0;

  constructor(options: DatabaseOptions, ports: JournalPorts) {
    this.#ports = ports;
    this.#soon = ports.soon ?? setImmediate;
    this.#openWriter = () =>
      (ports.openWriter ?? openWriterThread)(options, {
        onReply: (reply) => this.#onReply(reply),
        onUnopened: (why) => this.#onUnopened(why),
        onEnd: (why) => this.#endWith(why),
      });
  }

  /**
   * Opens the writer after the I/O of this turn, as its first use would: a server can listen before the writer is ready.
   */
  open(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    this.#soon(() => {
      // Operations that still wait for their batch need the writer too.
      if (this.#isClosing && this.#early.length + this.#queue.length === 0) return;
      try {
        this.#writer = this.#openWriter();
      } catch (failure) {
        this.#onUnopened(firstLineOf(failure)); // the system refuses another thread
        return;
      }
      for (const request of this.#early.splice(0)) this.#post(request);
    });
  }

  #post(request: WriterRequest): void {
    if (this.#writer === undefined) {
      this.#early.push(request);
      this.open();
      return;
    }
    this.#writer.setAwaited(true);
    this.#writer.post(request);
  }

  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined {
    if (this.#broken !== undefined) return this.#broken;
    if (this.#refused !== undefined) return this.#refused;
    return this.#leftMs() < 0 ? SLOW : undefined;
  }

  /** Until the commit in flight is slow; without one the whole time. */
  #leftMs(): number {
    if (this.#startedMs === undefined) return SLOW_COMMIT_MS;
    // Whatever is called first after a standstill.
    return this.#startedMs + SLOW_COMMIT_MS - Math.min(this.#ports.clock.monotonicMs(), this.#watchMs);
  }

  /** Resolves when the operation is on disk. @throws StateRefusedError, RequestRefusedError, RecordInDoubtError by rejecting */
  write(operation: Operation): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(new StateRefusedError(this.#broken));
    if (this.#isClosing) return Promise.reject(new StateRefusedError('the state is closed'));
    const byteCount = bytesOf(operation);
    if (this.#queue.length >= QUEUE_COUNT_MAX || this.#queueBytes + byteCount > QUEUE_BYTES_MAX) {
      return Promise.reject(new StateRefusedError('too many records are waiting for the disk'));
    }
    this.#queueBytes += byteCount;
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * Reads through the query's table. Reads work even when writes no longer do, as long as the writer's thread lives.
   * @throws StateRefusedError, RequestRefusedError by rejecting
   */
  async read(query: Query): Promise<unknown> {
    if (this.#hasEnded) throw new StateRefusedError('the writer has ended');
    if (this.#isClosing) throw new StateRefusedError('the state is closed');
    const id = ++this.#readCount;
    const result = new Promise<QueryResult>((resolve) => {
      this.#readings.set(id, resolve);
      this.#post({ kind: 'read', id, query });
    });
    return foundIn(await result);
  }

  /** Writes the queue, then closes the file. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#cancelProbe?.();
    this.#cancelWatch?.();
    if (this.#queue.length > 0 || this.#inFlight.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    if (this.#writer === undefined && this.#early.length === 0) return;
    if (!this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#onClosed = resolve;
        this.#post({ kind: 'close' });
      });
    }
    await this.#writer?.terminate();
  }

  /** Commits after the turn's I/O, so that all requests that this turn reads share the batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#inFlight.length > 0) return;
    this.#isScheduled = true;
    this.#soon(() => {
      this.#isScheduled = false;
      this.#commitNext();
    });
  }

  #commitNext(): void {
    if (this.#inFlight.length > 0 || this.#queue.length === 0 || this.#broken !== undefined) return;
    let count = 0;
    let batchBytes = 0;
    for (; count < this.#queue.length && count < BATCH_COUNT_MAX; count++) {
      const byteCount = bytesOf(this.#queue[count]!.operation);
      if (count > 0 && batchBytes + byteCount > BATCH_BYTES_MAX) break;
      batchBytes += byteCount;
    }
    this.#queueBytes -= batchBytes;
    this.#inFlight = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count);
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    this.#startedMs = this.#ports.clock.monotonicMs();
    if (this.#cancelWatch === undefined) this.#watch();
    this.#post({ kind: 'batch', operations: this.#inFlight.map(({ operation }) => operation) });
  }

  #onReply(reply: WriterReply): void {
    switch (reply.kind) {
      case 'batch':
        this.#onResult(reply.result);
        return;
      case 'read': {
        const resolve = this.#readings.get(reply.id);
        this.#readings.delete(reply.id);
        this.#rest();
        resolve?.(reply.result);
        return;
      }
      case 'closed':
        this.#onClosed?.();
        return;
      default:
        reply satisfies never;
    }
  }

  #onResult(result: BatchResult): void {
    const finished = this.#inFlight;
    const isLate = this.#leftMs() < 0;
    this.#inFlight = [];
    this.#startedMs = undefined;
    switch (result.kind) {
      case 'done':
        this.batchCount++;
        this.operationCount += finished.length - result.refused.length;
        this.#setRefused(isLate ? SLOW : undefined);
        for (const { index, detail, isBug } of result.refused) {
          const why = `the state refused the record: ${detail}`;
          finished[index]?.reject(isBug ? new RequestRefusedError(why) : new StateRefusedError(why));
        }
        for (const { resolve } of finished) resolve();
        break;
      case 'refused': {
        const why = `the state cannot be written: ${result.detail}`;
        this.#setRefused(why);
        for (const { reject } of finished) reject(new StateRefusedError(why));
        break;
      }
      case 'broken':
        this.#inFlight = finished;
        this.#break(result.detail, result.isInDoubt);
        return;
      default:
        result satisfies never;
    }
    this.#rest();
    this.#commitNext();
  }

  /** Reports a commit that is slow. One timer looks after all commits, since most take milliseconds. */
  #watch(): void {
    if (this.#isClosing) return;
    const { clock, timers } = this.#ports;
    this.#watchMs = clock.monotonicMs();
    const delayMs = Math.min(this.#leftMs() + 1, WATCH_MS);
    this.#watchMs += delayMs + STILL_MS;
    this.#cancelWatch = timers.after(delayMs, () => {
      this.#cancelWatch = undefined;
      if (this.#startedMs === undefined) return;
      const nowMs = clock.monotonicMs();
      this.#startedMs += Math.max(0, nowMs - Math.max(this.#watchMs, this.#startedMs));
      this.#watchMs = nowMs;
      if (this.#leftMs() < 0) this.#report(this.fault());
      else this.#watch();
    });
  }

  /** While it is set, a probe follows each commit: at once where that was slow, as the next one may be quick. */
  #setRefused(why: string | undefined): void {
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    // One that goes on for another reason is the same fault to the operator, unless a disk that was slow now refuses.
    if (why === undefined || this.#refused === undefined || this.#refused === SLOW) this.#report(why);
    this.#refused = why;
    if (why !== undefined) this.#probeLater(why === SLOW ? 0 : PROBE_PAUSE_MS);
  }

  #report(fault: string | undefined): void {
    if (fault === this.#reported) return;
    this.#reported = fault;
    this.#ports.onStateFault(fault);
  }

  /** Lets the writer keep the process alive only while a request, or the close, waits for it. */
  #rest(): void {
    if (this.#inFlight.length > 0 || this.#readings.size > 0 || this.#onClosed !== undefined) return;
    this.#writer?.setAwaited(false);
    if (this.#queue.length === 0) this.#onIdle?.();
  }

  #probeLater(pauseMs: number): void {
    if (this.#isClosing) return;
    this.#cancelProbe = this.#ports.timers.after(pauseMs, () => {
      this.write(PROBE).catch(() => {});
    });
  }

  /** The next request, which may be the probe, opens another writer. */
  #onUnopened(why: string): void {
    this.#writer = undefined;
    this.#isOpening = false;
    this.#early = [];
    this.#rejectReadings(why);
    if (this.#onClosed === undefined) this.#onResult({ kind: 'refused', detail: why });
    else this.#onClosed();
  }

  #rejectReadings(why: string): void {
    const readings = [...this.#readings.values()];
    this.#readings.clear();
    for (const resolve of readings) resolve({ kind: 'unreadable', detail: why });
  }

  #endWith(why: string): void {
    this.#hasEnded = true;
    this.#rejectReadings(why);
    // The close of a broken journal may have waited only for these requests.
    this.#rest();
    if (this.#onClosed === undefined) this.#break(why, true);
    else this.#onClosed();
  }

  /** Ends all writing. */
  #break(detail: string, isInDoubt: boolean): void {
    if (this.#broken !== undefined) return;
    this.#broken = `the server writes nothing to the state until its next start: ${detail}`;
    this.#cancelProbe?.();
    this.#startedMs = undefined;
    const inFlight = this.#inFlight;
    const waiting = this.#queue;
    this.#inFlight = [];
    this.#queue = [];
    const failure = isInDoubt ? new RecordInDoubtError(this.#broken) : new StateRefusedError(this.#broken);
    for (const { reject } of inFlight) reject(failure);
    for (const { reject } of waiting) reject(new StateRefusedError(this.#broken));
    this.#rest();
    this.#report(this.#broken);
  }
}
