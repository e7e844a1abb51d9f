/** The work of one resolve: fetch, then extract, within its 30 seconds (siblings §7). */
import type { Clock } from '../base/clock.ts';
import { isoTime } from '../base/iso-time.ts';
import type { Timers } from '../base/timers.ts';
import { headerOf } from '../outbound/answer.ts';
import type { Coding } from '../outbound/codings.ts';
import { CONTENT_TYPE_LENGTH_MAX } from '../outbound/limits.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Target } from '../outbound/target.ts';
import { type FetchedPage, fetchPage } from './fetch-page.ts';
import { WORK_MS } from './limits.ts';
import {
  type FailureCode,
  failedWith,
  type Include,
  type PageContent,
  type ResolveOutcome,
  type ResolveQuestion,
} from './result.ts';

/** A document to be read. */
export interface Document {
  /** As on the wire. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Its content codings, the outermost first. */
  readonly codings: readonly Coding[];
  /** True: in a coding that was not requested, so it is measured unchanged and not read. */
  readonly isUnreadable: boolean;
  /** The header as sent; null = none. */
  readonly contentType: string | null;
  /** Where it was found; relative addresses are relative to it. */
  readonly url: string;
  readonly include: readonly Include[];
  readonly isTruncated: boolean;
}

/** Facts about a body once it is unpacked. */
export interface Measured {
  /** SHA-256, 64 hex digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The result of reading a document. */
export type Extracted =
  | (Measured & { readonly kind: 'read'; readonly content: PageContent })
  /** Unpacked, the body has more than UNPACKED_BYTES_MAX. */
  | { readonly kind: 'too-large' }
  /** The body cannot be unpacked. */
  | { readonly kind: 'broken' }
  /** Nothing is known: the server is stopping, starved, or has a bug. */
  | { readonly kind: 'unread' };

/** Reads documents off the main thread (a port). */
export interface Extractor {
  /**
   * Unpacks a document and reads it. Never rejects: a document that cannot be read in time gives nulls and a warning. Takes
   * ownership of the body's buffer.
   * @param timeoutMs includes waiting for a turn
   */
  extract(document: Document, timeoutMs: number): Promise<Extracted>;
}

export interface WorkPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly outbound: Outbound;
  readonly extractor: Extractor;
}

export interface WorkOptions {
  readonly question: ResolveQuestion;
  readonly target: Target;
  /** For fair turns. */
  readonly customer: string;
  /** Ends the work; its outcome is then meaningless. */
  readonly signal: AbortSignal;
}

/** Failure codes by how reading the document failed. */
const UNREAD: Readonly<Record<Exclude<Extracted['kind'], 'read'>, FailureCode>> = {
  'too-large': 'RESPONSE_TOO_LARGE',
  broken: 'TARGET_UNREACHABLE',
  unread: 'INTERNAL_ERROR',
};

async function outcomeOf(
  page: Extract<FetchedPage, { kind: 'page' }>,
  { clock, extractor }: WorkPorts,
  { question }: WorkOptions,
  deadlineMs: number,
): Promise<ResolveOutcome> {
  const { answer, finalUrl, redirects, warnings } = page;
  const fetchedAt = isoTime(clock.nowMs());
  const { body, codings = [], isUnreadable = false, isTruncated, status } = answer;
  const contentType = headerOf(answer, 'content-type')?.slice(0, CONTENT_TYPE_LENGTH_MAX) ?? null;
  const extracted = await extractor.extract(
    { body, codings, isUnreadable, contentType, url: finalUrl, include: question.include, isTruncated },
    Math.max(0, deadlineMs - clock.monotonicMs()),
  );
  if (extracted.kind !== 'read') return failedWith(UNREAD[extracted.kind]);
  const { content, sha256, sizeBytes } = extracted;
  const result = {
    requested_url: question.url,
    final_url: finalUrl,
    redirects,
    status_code: status,
    content_type: contentType,
    size_bytes: sizeBytes,
    content_sha256: sha256,
    fetched_at: fetchedAt,
    truncated: isTruncated,
    ...content,
    warnings: [...warnings, ...content.warnings],
  };
  return { status: 'resolved', result, failure: null };
}

/** Rejects only for a bug. */
export async function resolveAddress(ports: WorkPorts, options: WorkOptions): Promise<ResolveOutcome> {
  const { clock, timers, outbound } = ports;
  const deadlineMs = clock.monotonicMs() + WORK_MS;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const stopTimer = timers.after(WORK_MS, end);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();
  try {
    const { target, customer } = options;
    const { hash } = new URL(options.question.url);
    const { signal } = ending;
    const page = await fetchPage(target, { outbound, clock }, { customer, deadlineMs, signal, hash });
    if (page.kind === 'failed') return failedWith(page.code, page.reason);
    return await outcomeOf(page, ports, options, deadlineMs);
  } finally {
    stopTimer();
    options.signal.removeEventListener('abort', end);
  }
}
