/**
 * The work of `watch`: rounds over the boards that are due, and after each the snapshot, built beside the old one and renamed over
 * it. Everything that must last is in the catalogue, so a process that dies continues where it was.
 */
import { FeedMemory } from '../../adapters/boards/feed-memory.ts';
import { FEEDS_BYTES_MAX } from '../../adapters/boards/limits.ts';
import { openSnapshotFile, removeLeftovers } from '../../adapters/files/snapshot-file.ts';
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts';
import { firstLineOf } from '../../base/failure.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import { readHeader } from '../../catalogue/snapshot/header.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { askedHostOf } from '../../ingest/boards/endpoints.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import type { VisitBounds } from '../../ingest/watch/schedule.ts';
import { BoardTables, type WatchedBoard } from '../../storage/history/board-tables.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import { CommandError } from '../command.ts';
import type { Io } from '../io.ts';
import { Progress } from '../progress.ts';
import { buildFromHistory, type HistoryBuildPlan } from '../snapshot/build-from-history.ts';
import { heldUntilMs, isFetchedAhead, makeDue, setBackBoards, setBackLine } from './clock-set-back.ts';
import { FailingHosts } from './failing-hosts.ts';
import { BUSY_PAUSE_MS, type HeldHost, type RoundSettings, runRound } from './round.ts';
import { unvisited, type VisitReport, visitJson, visitLine } from './visit-line.ts';
import type { WayOut } from './way-out.ts';

export interface WatchPlan {
  readonly folder: string;
  readonly out: string;
  readonly bounds: VisitBounds;
  /** Runs one round and does not wait for the next. */
  readonly isOnce: boolean;
  /** The round takes every board, due or not. */
  readonly isAll: boolean;
  /** One object a board on stdout. */
  readonly isJson: boolean;
  readonly build: Pick<HistoryBuildPlan, 'maxAgeDays' | 'mergesSameUrl' | 'keepsDescriptions'>;
}

export interface WatchPorts {
  readonly io: Io;
  readonly wayOut: WayOut;
  readonly origins: BoardOrigins;
  readonly draw: () => number;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** Temporary files of builds that were killed are removed after this time without a write, milliseconds. */
const LEFTOVER_MS = HOUR_MS;
/** Boards may be added, or due earlier, while the watch waits. */
const LOOK_MS = 30_000;
/** Boards that fall due within a minute share a round. */
const ROUND_PAUSE_MS = MINUTE_MS;
/** After this time a round begins no more visits, so that boards of other hosts that fall due are not left waiting. */
const ROUND_MS_MAX = 10 * MINUTE_MS;
/** In a round that lasts longer, such as one with `--once`, a snapshot of the results so far is built meanwhile. */
const BUILD_WITHIN_MS = 15 * MINUTE_MS;
/** Building takes at most a fifth of the time: each round waits four times as long as the last build took. */
const BUILD_SHARE = 4;

interface RoundCounts {
  boards: number;
  failed: number;
  unhealthy: number;
  new: number;
  changed: number;
  closed: number;
  reopened: number;
}

export class Watcher {
  readonly #plan: WatchPlan;
  readonly #ports: WatchPorts;
  readonly #history: HistoryDatabase;
  readonly #tables: BoardTables;
  readonly #progress: Progress;
  readonly #hosts: FailingHosts;
  /** How long the last build took, milliseconds. */
  #buildMs = 0;

  /** @throws HistoryError */
  constructor(plan: WatchPlan, ports: WatchPorts) {
    this.#plan = plan;
    this.#ports = ports;
    this.#history = HistoryDatabase.openForWatching(plan.folder);
    this.#tables = new BoardTables(this.#history);
    this.#hosts = new FailingHosts(ports.draw);
    this.#progress = new Progress(ports.io.stderr, ports.io.clock);
  }

  close(): void {
    this.#history.close();
  }

  /** @throws CommandError, HistoryError */
  async run(): Promise<void> {
    const { isOnce, isAll } = this.#plan;
    const { clock } = this.#ports.io;
    const { signal } = this.#ports;
    this.#removeLeftovers(clock.nowMs() - LEFTOVER_MS);
    if (isOnce && this.#tables.list().length === 0) throw new CommandError(NO_BOARDS);
    let hasSaidNone = false;
    while (!signal.aborted) {
      await this.#makeDueAfterSetBack();
      const boards = this.#tables.list();
      if (boards.length === 0 && !hasSaidNone) this.#progress.say(`${NO_BOARDS}; this waits for some\n`);
      hasSaidNone = boards.length === 0;
      const nowMs = clock.nowMs();
      const due = boards.filter((board) => (isAll ? !isHeld(board, nowMs) : board.nextMs <= nowMs));
      const startMs = clock.monotonicMs();
      if (isAll) this.#tellLeft(boards.filter((board) => isHeld(board, nowMs)));
      if (due.length > 0) await this.#round(due);
      // Elsewhere cron would send it by mail.
      else if (isOnce && !isAll && this.#ports.io.stderr.isTerminal)
        this.#progress.say(`no board is due${this.#nextText()}\n`);
      if (signal.aborted) return;
      await this.#buildWhereOutdated(isOnce);
      if (isOnce || signal.aborted) return;
      const pauseMs = due.length === 0 ? 0 : Math.max(ROUND_PAUSE_MS, this.#buildMs * BUILD_SHARE);
      await this.#untilDue(startMs + pauseMs);
    }
  }

  /** A failure is only a warning: leftovers just take space. */
  #removeLeftovers(beforeMs: number): void {
    try {
      removeLeftovers(this.#plan.out, beforeMs);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      this.#progress.say(`warning: ${error.message}\n`);
    }
  }

  async #makeDueAfterSetBack(): Promise<void> {
    const { io, signal, wayOut } = this.#ports;
    const nowMs = io.clock.nowMs();
    const ahead = setBackBoards(this.#tables.list(), nowMs);
    if (ahead.length === 0) return;
    this.#progress.say(setBackLine(ahead));
    while (!this.#history.tryBegin()) {
      await wayOut.pace.pause(BUSY_PAUSE_MS, signal);
      if (signal.aborted) return;
    }
    makeDue(ahead, nowMs, this.#tables);
    this.#history.commit();
  }

  async #round(due: readonly WatchedBoard[]): Promise<void> {
    const { io, origins, wayOut, draw, signal } = this.#ports;
    const enough = new AbortController();
    const counts: RoundCounts = { boards: 0, failed: 0, unhealthy: 0, new: 0, changed: 0, closed: 0, reopened: 0 };
    const settings: RoundSettings = {
      history: this.#history,
      tables: this.#tables,
      skills: loadSkillExtractor(),
      bounds: this.#plan.bounds,
      draw,
      clock: io.clock,
      ...wayOut,
      origins,
      hosts: this.#hosts,
      feedMemory: new FeedMemory(FEEDS_BYTES_MAX),
      signal,
      enough: enough.signal,
      aside: {
        everyMs: Math.max(BUILD_WITHIN_MS, this.#buildMs * BUILD_SHARE),
        act: () => this.#buildWhereOutdated(false),
      },
      onHeld: (held) => this.#tellHeld(held),
      onBusy: () => this.#progress.say('the catalogue is in use by an import; this waits for it\n'),
      onVisit: (report) => {
        counts.boards++;
        if (report.status === 'failed' || report.status === 'unhealthy') counts[report.status]++;
        counts.new += report.new;
        counts.changed += report.changed;
        counts.closed += report.closed;
        counts.reopened += report.reopened;
        this.#tell(report, counts, due.length);
      },
    };
    const done = new AbortController();
    const timeUp = this.#plan.isOnce
      ? undefined
      : wayOut.pace.pause(ROUND_MS_MAX, AbortSignal.any([signal, done.signal]));
    void timeUp?.then(() => enough.abort());
    try {
      await runRound(due, settings);
    } finally {
      done.abort();
    }
    this.#progress.say(
      `${grouped(counts.boards)} of ${quantity(due.length, 'board')} visited: ${countsText(counts)}${this.#nextText()}\n`,
    );
  }

  /** Reports boards that even a round over all boards leaves out, because their hosts are paused. */
  #tellLeft(boards: readonly WatchedBoard[]): void {
    for (const [host, left] of Map.groupBy(boards, (board) => askedHostOf(board, this.#ports.origins))) {
      this.#tellHeld({ host, boards: left, untilMs: Math.max(...left.map(heldUntilMs)) });
    }
  }

  /** With `--json` prints one object for each board, as for visited ones. */
  #tellHeld(held: HeldHost): void {
    this.#progress.say(heldLine(held));
    if (!this.#plan.isJson) return;
    for (const { name } of held.boards) this.#ports.io.stdout.write(visitJson(unvisited(name, held)));
  }

  #tell(report: VisitReport, counts: RoundCounts, total: number): void {
    // One write for the whole line: a progress line on the same terminal is redrawn after each write.
    if (this.#plan.isJson) this.#ports.io.stdout.write(visitJson(report));
    else if (report.status !== 'unchanged') this.#progress.say(visitLine(report));
    this.#progress.showLine((elapsedMs) => {
      const rate = elapsedMs < 1000 ? '' : `  ${((counts.boards * 1000) / elapsedMs).toFixed(1)}/s`;
      return `${grouped(counts.boards)} of ${quantity(total, 'board')}${rate}  ${countsText(counts)}`;
    });
  }

  #nextText(): string {
    const next = this.#tables.list().sort((a, b) => a.nextMs - b.nextMs)[0];
    return next === undefined
      ? ''
      : `; next ${next.name} at ${isoTime(Math.max(next.nextMs, this.#ports.io.clock.nowMs()))}`;
  }

  /** Whether there is no usable snapshot, or it was built before the last observation or while the clock ran ahead. */
  #isOutdated(): boolean {
    const builtAtMs = builtAtMsOf(this.#plan.out);
    if (builtAtMs > this.#ports.io.clock.nowMs()) return true;
    return this.#tables.list().some(({ state }) => {
      const hasTaken = state?.health === 'ok' || state?.health === 'partial';
      const observedMs = hasTaken ? state.lastFetchMs : state?.lastOkMs;
      return observedMs != null && observedMs >= builtAtMs;
    });
  }

  /** @param isLast no later build can make up for a failed one @throws CommandError */
  async #buildWhereOutdated(isLast: boolean): Promise<void> {
    if (!this.#isOutdated()) return;
    const { folder, out, build } = this.#plan;
    const { io, signal } = this.#ports;
    const startMs = io.clock.monotonicMs();
    this.#progress.clear();
    try {
      await buildFromHistory({ ...build, folder, out, isJson: false, isNext: true }, io, signal);
    } catch (error) {
      // The visits are stored, and the next start builds at once.
      if (signal.aborted && error === signal.reason) return;
      // A full disk or a file held by another process: the visits are stored, and a later build includes them.
      if (!(error instanceof CommandError) || isLast) throw error;
      this.#progress.say(`the snapshot was not built: ${firstLineOf(error)}\n`);
    }
    this.#buildMs = io.clock.monotonicMs() - startMs;
  }

  /** @param earliestMs monotonic */
  async #untilDue(earliestMs: number): Promise<void> {
    const { io, signal, wayOut } = this.#ports;
    for (;;) {
      const boards = this.#tables.list();
      const nowMs = io.clock.nowMs();
      if (boards.some((board) => isFetchedAhead(board, nowMs))) return;
      const dueMs = boards.reduce((first, { nextMs }) => Math.min(first, nextMs), Number.POSITIVE_INFINITY);
      const waitMs = Math.max(dueMs - nowMs, earliestMs - io.clock.monotonicMs());
      if (waitMs <= 0 || signal.aborted) return;
      await wayOut.pace.pause(Math.min(waitMs, LOOK_MS), signal);
    }
  }
}

const NO_BOARDS = 'the catalogue has no boards: `boards add URL` adds one';

function countsText({ failed, unhealthy, changed, closed, reopened, ...counts }: RoundCounts): string {
  const text = `${grouped(counts.new)} new, ${grouped(changed)} changed, ${grouped(closed)} closed, ${grouped(reopened)} reopened`;
  const left = Object.entries({ failed, unhealthy }).filter(([, count]) => count > 0);
  return [text, ...left.map(([status, count]) => `${grouped(count)} ${status}`)].join('; ');
}

const isHeld = (board: WatchedBoard, nowMs: number): boolean => heldUntilMs(board) > nowMs;

const heldLine = ({ host, boards, untilMs }: HeldHost): string =>
  `${host} fails or asks for fewer requests: ${quantity(boards.length, 'board')} of the round left until ${isoTime(untilMs)}\n`;

/** When the snapshot was built; -Infinity if there is no usable one. */
function builtAtMsOf(path: string): number {
  try {
    const file = openSnapshotFile(path);
    try {
      return readHeader(file, (reason) => new SnapshotError(`${path}: ${reason}`)).header.facts.builtAtMs;
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof SnapshotError) return Number.NEGATIVE_INFINITY;
    throw error;
  }
}
