/** Rounds of `watch` in virtual time, against hosts simulated by a function. */
import { FeedMemory } from '../../src/adapters/boards/feed-memory.ts';
import { FEEDS_BYTES_MAX } from '../../src/adapters/boards/limits.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { FailingHosts } from '../../src/cli/watch/failing-hosts.ts';
import { type HeldHost, type RoundSettings, runRound } from '../../src/cli/watch/round.ts';
import type { VisitReport } from '../../src/cli/watch/visit-line.ts';
import { openWayOut } from '../../src/cli/watch/way-out.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import type { Outbound, OutboundRequest, OutboundResult } from '../../src/outbound/outbound.ts';
import { BoardTables, type WatchedBoard } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { ManualTime } from './manual-time.ts';
import { NOTHING_ALLOWED } from './nothing-allowed.ts';

export interface Asked {
  readonly url: string;
  readonly host: string;
  /** When the request reached the host, milliseconds. */
  readonly atMs: number;
}

/** null: no answer ever comes. `afterMs`: least time that the answer takes. */
export type Played = (url: URL, request: OutboundRequest) => (OutboundResult & { readonly afterMs?: number }) | null;

/** Answers each request after a different delay, and records when each arrived. */
export class SlowOutbound implements Outbound {
  readonly asked: Asked[] = [];
  readonly #time: ManualTime;
  readonly #random = new SeededRandom(4);
  readonly #play: Played;
  readonly #answerMs: number;

  readonly policy: Outbound['policy'] = {
    judge: (text) => ({ ok: true, target: { url: new URL(text), isOwnHook: false } }),
  };

  constructor(time: ManualTime, play: Played, answerMs: number) {
    this.#time = time;
    this.#answerMs = answerMs;
    this.#play = play;
  }

  async lookUp(): Promise<'allowed'> {
    return 'allowed';
  }

  /** Applies the deadline only if no answer ever comes. */
  async send(request: OutboundRequest): Promise<OutboundResult> {
    const { url } = request.target;
    await this.#after(this.#random.below(400), request.signal);
    this.asked.push({ url: url.href, host: url.host, atMs: this.#time.monotonicMs() });
    const played = this.#play(url, request);
    const answerMs = (played?.afterMs ?? this.#answerMs) + this.#random.below(1500);
    await this.#after(played === null ? request.timeoutMs : answerMs, request.signal);
    if (request.signal?.aborted) return { kind: 'aborted', detail: 'it was given up', durationMs: 0 };
    return played ?? { kind: 'timeout', detail: 'no answer in time', durationMs: request.timeoutMs };
  }

  #after(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#time.after(ms, resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

export interface VirtualRound {
  readonly asked: readonly Asked[];
  readonly reports: readonly VisitReport[];
  readonly held: readonly HeldHost[];
  /** How long it took. */
  readonly tookMs: number;
  /** The boards after it. */
  readonly boards: readonly WatchedBoard[];
}

export interface VirtualSettings extends Partial<Pick<RoundSettings, 'enough' | 'aside'>> {
  /** Hours between the beginnings of two rounds. */
  readonly everyHours?: number;
  /** Least time that an answer takes, milliseconds. */
  readonly answerMs?: number;
}

/** Rounds over the boards that are due, one every so many hours. @returns the last one, with what was asked in it */
export async function virtualRounds(
  folder: string,
  boards: readonly Board[],
  count: number,
  play: Played,
  { everyHours = 2, answerMs = 0, enough, aside = null }: VirtualSettings = {},
): Promise<VirtualRound> {
  const time = new ManualTime();
  const outbound = new SlowOutbound(time, play, answerMs);
  const history = HistoryDatabase.openForWatching(folder);
  // These tests do not need synced files.
  history.exec('PRAGMA synchronous = OFF');
  const tables = new BoardTables(history);
  for (const board of boards) tables.put(board, time.nowMs());
  const draw = (): number => 0.5;
  const wayOut = openWayOut(
    { contact: null, targetAllow: NOTHING_ALLOWED, pauseMs: 1000, draw, clock: time, timers: time },
    outbound,
  );
  const hosts = new FailingHosts(draw);
  let last: VirtualRound | undefined;
  try {
    for (let round = 0; round < count; round++) {
      const startMs = time.monotonicMs();
      const reports: VisitReport[] = [];
      const held: HeldHost[] = [];
      const askedBefore = outbound.asked.length;
      let isDone = false;
      const running = runRound(
        tables.list().filter(({ nextMs }) => nextMs <= time.nowMs()),
        {
          ...wayOut,
          history,
          tables,
          hosts,
          feedMemory: new FeedMemory(FEEDS_BYTES_MAX),
          skills: loadSkillExtractor(),
          bounds: { minMs: 3_600_000, maxMs: 86_400_000 },
          draw,
          clock: time,
          origins: new Map(),
          signal: new AbortController().signal,
          enough: enough ?? new AbortController().signal,
          aside,
          onBusy: () => {},
          onVisit: (report) => reports.push(report),
          onHeld: (one) => held.push(one),
        },
      ).finally(() => {
        isDone = true;
      });
      running.catch(() => {}); // it is awaited when time has passed
      while (!isDone) {
        await new Promise((resolve) => setImmediate(resolve));
        time.pass(200);
      }
      await running;
      const tookMs = time.monotonicMs() - startMs;
      last = { asked: outbound.asked.slice(askedBefore), reports, held, tookMs, boards: tables.list() };
      time.pass(Math.max(0, everyHours * 3_600_000 - tookMs));
    }
  } finally {
    history.close();
  }
  return last!;
}
