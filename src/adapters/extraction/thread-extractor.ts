/**
 * Unpacks and extracts documents in threads, so that no page blocks the event loop that answers (siblings §7).
 * Documents queue for a thread; if its resolve has no time left, a document gets nulls and a warning, like one that
 * takes more than two seconds of work. A thread that is given up and does not end has no further document; while both
 * are like that, nothing is extracted.
 */
import type { Clock } from '../../base/clock.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { Timers } from '../../base/timers.ts';
import { EXTRACTION_MS, EXTRACTION_WALL_MS } from '../../resolve/limits.ts';
import { nothingOf, type PageContent } from '../../resolve/result.ts';
import type { Document, Extracted, Extractor, Measured } from '../../resolve/work.ts';
import { ExtractionThread, type ExtractionThreadOptions, type ThreadEnd } from './extraction-thread.ts';

/** Threads that read at a time: one hostile page does not block all others. */
const THREAD_COUNT = 2;

export const TOO_LATE = 'Reading the page took too long: nothing was extracted.';
const BROKEN = 'The page could not be read: nothing was extracted.';

export interface ExtractorPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A thread failed, or the extraction threw: one line or a stack. */
  onFailure(detail: string): void;
}

interface Waiting {
  readonly document: Document;
  readonly deadlineMs: number;
  readonly done: (extracted: Extracted) => void;
}

const readOf = (measured: Measured | undefined, content: PageContent): Extracted =>
  measured === undefined ? { kind: 'unread' } : { kind: 'read', ...measured, content };

export class ThreadExtractor implements Extractor {
  readonly #ports: ExtractorPorts;
  readonly #idle: ExtractionThread[];
  readonly #threads: readonly ExtractionThread[];
  /** Threads that were given up and have not ended for long. */
  readonly #stuck = new Set<ExtractionThread>();
  #waiting: Waiting[] = [];
  #isClosed = false;
  readonly #counts = { done: 0, late: 0, failed: 0, refused: 0 };

  constructor(ports: ExtractorPorts, options?: ExtractionThreadOptions) {
    this.#ports = ports;
    this.#threads = Array.from({ length: THREAD_COUNT }, () => new ExtractionThread(ports.timers, options));
    this.#idle = [...this.#threads];
  }

  extract(document: Document, timeoutMs: number): Promise<Extracted> {
    const deadlineMs = this.#ports.clock.monotonicMs() + timeoutMs;
    return new Promise((done) => {
      this.#waiting.push({ document, deadlineMs, done });
      this.#next();
    });
  }

  writeMetrics(page: Exposition): void {
    page.family('paygrade_resolve_extractions_total', 'counter', 'Documents read, by how that ended.');
    for (const [outcome, count] of Object.entries(this.#counts)) page.sample(count, { outcome });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.close()));
    this.#next();
  }

  #next(): void {
    if (this.#isClosed) {
      for (const { done } of this.#waiting.splice(0)) done({ kind: 'unread' });
      return;
    }
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop();
      if (thread === undefined) break;
      void this.#use(thread, this.#waiting.shift() as Waiting);
    }
    if (this.#stuck.size < this.#threads.length) return;
    for (const { done } of this.#waiting.splice(0)) {
      this.#counts.failed++;
      done({ kind: 'unread' });
    }
  }

  /** The thread is idle again once a worker that was given up has ended, so that there are never two workers of it. */
  async #use(thread: ExtractionThread, waiting: Waiting): Promise<void> {
    await this.#read(thread, waiting);
    await thread.ended(() => {
      this.#stuck.add(thread);
      this.#ports.onFailure('the extraction thread does not end');
      this.#next();
    });
    this.#stuck.delete(thread);
    this.#idle.push(thread);
    this.#next();
  }

  async #read(thread: ExtractionThread, { document, deadlineMs, done }: Waiting): Promise<void> {
    const leftMs = () => deadlineMs - this.#ports.clock.monotonicMs();
    const { end, measured } = await thread.read(document, {
      workMs: EXTRACTION_MS,
      leftMs,
      wallMs: EXTRACTION_WALL_MS,
    });
    done(this.#extracted(end, measured));
  }

  #extracted(end: ThreadEnd, measured: Measured | undefined): Extracted {
    switch (end.kind) {
      case 'content':
        this.#counts.done++;
        return readOf(measured, end.content);
      case 'late':
        this.#counts.late++;
        return readOf(measured, nothingOf([TOO_LATE]));
      case 'failed':
        this.#counts.failed++;
        if (!this.#isClosed) this.#ports.onFailure(end.detail);
        return readOf(measured, nothingOf([BROKEN]));
      case 'too-large':
      case 'broken':
        this.#counts.refused++;
        return { kind: end.kind };
      default:
        return end satisfies never;
    }
  }
}
