/**
 * Extracts documents in threads, so that no page holds up the loop that answers (siblings §7). Documents wait in line for a thread;
 * one whose resolve has no time left gets nulls and a warning, like one that takes more than two seconds of work.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { Timers } from '../../base/timers.ts';
import { EXTRACTION_MS, EXTRACTION_WALL_MS } from '../../resolve/limits.ts';
import { nothingOf, type PageContent } from '../../resolve/result.ts';
import type { Document, Extracted, Extractor } from '../../resolve/work.ts';
import { ExtractionThread, type ExtractionThreadOptions } from './extraction-thread.ts';

/** Threads that read at a time: one hostile page does not hold up all others. */
const THREAD_COUNT = 2;

export const TOO_LATE = 'Reading the page took too long: nothing was extracted.';
const BROKEN = 'The page could not be read: nothing was extracted.';

export interface ExtractorPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A thread failed; one line. */
  onFailure(detail: string): void;
}

interface Waiting {
  readonly document: Document;
  readonly deadlineMs: number;
  readonly done: (extracted: Extracted) => void;
}

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

export class ThreadExtractor implements Extractor {
  readonly #ports: ExtractorPorts;
  readonly #idle: ExtractionThread[];
  readonly #threads: readonly ExtractionThread[];
  #waiting: Waiting[] = [];
  #isClosed = false;
  readonly #counts = { done: 0, late: 0, failed: 0 };

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
      for (const { document, done } of this.#waiting.splice(0)) this.#finish(document, done, undefined, BROKEN);
      return;
    }
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop();
      if (thread === undefined) return;
      void this.#read(thread, this.#waiting.shift() as Waiting).then(() => {
        this.#idle.push(thread);
        this.#next();
      });
    }
  }

  async #read(thread: ExtractionThread, { document, deadlineMs, done }: Waiting): Promise<void> {
    const leftMs = deadlineMs - this.#ports.clock.monotonicMs();
    if (leftMs <= 0) {
      this.#counts.late++;
      this.#finish(document, done, undefined, TOO_LATE);
      return;
    }
    const { end, sha256 } = await thread.read(document, {
      workMs: EXTRACTION_MS,
      wallMs: Math.min(leftMs, EXTRACTION_WALL_MS),
    });
    switch (end.kind) {
      case 'content':
        this.#counts.done++;
        this.#finish(document, done, sha256, end.content);
        return;
      case 'late':
        this.#counts.late++;
        this.#finish(document, done, sha256, TOO_LATE);
        return;
      case 'failed':
        this.#counts.failed++;
        if (!this.#isClosed) this.#ports.onFailure(end.detail);
        this.#finish(document, done, sha256, BROKEN);
        return;
      default:
        end satisfies never;
    }
  }

  #finish({ body }: Document, done: Waiting['done'], sha256: string | undefined, content: PageContent | string): void {
    done({
      sha256: sha256 ?? digestOf(body),
      content: typeof content === 'string' ? nothingOf([content]) : content,
    });
  }
}
