/**
 * One round: visits every due board once. Hosts are visited in parallel, the boards of one host one after another.
 * Results are stored board by board, so that a round that ends early continues where it stopped.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { type FetchedFeed, fetchFeed } from '../../adapters/boards/feed-fetch.ts';
import type { FeedClaim, FeedMemory } from '../../adapters/boards/feed-memory.ts';
import type { HostPace } from '../../adapters/boards/host-pace.ts';
import { VISIT_MS_MAX, VISITS_AT_ONCE, WAITED_MS_MAX } from '../../adapters/boards/limits.ts';
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts';
import { askedHostOf, FEED_PAGES_MAX } from '../../ingest/boards/endpoints.ts';
import type { Validators } from '../../ingest/boards/fetch-state.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import { RETRY_AFTER_MAX_MS } from '../../ingest/watch/schedule.ts';
import type { WatchedBoard } from '../../storage/history/board-tables.ts';
import { DETAILS_MAX, fetchDetails, rowsWithout, type Wanted } from './details.ts';
import type { FailingHosts } from './failing-hosts.ts';
import { isUpToDate, keepDetails, keepPostponed, keepVisit, type VisitSettings } from './keep-visit.ts';
import { withStanding } from './missing-postings.ts';
import { unreadableReason } from './take-feed.ts';
import type { VisitReport } from './visit-line.ts';

export interface RoundSettings extends VisitSettings {
  readonly client: BoardClient;
  readonly pace: HostPace;
  readonly origins: BoardOrigins;
  /** Kept from round to round. */
  readonly hosts: FailingHosts;
  readonly feedMemory: FeedMemory;
  /** Ends the round: visits under way are discarded. */
  readonly signal: AbortSignal;
  /** Ends the round after the visits under way; the rest of the boards stay due. */
  readonly enough: AbortSignal;
  /** Work to do at this interval during the round, while no visit is being stored; null: none. */
  readonly aside: { readonly everyMs: number; act(): Promise<void> } | null;
  /** Called once each time the round has to wait for another process that writes into the catalogue. */
  readonly onBusy: () => void;
  readonly onVisit: (report: VisitReport) => void;
  /** A host fails or asks for a pause, so these boards of the round are postponed. */
  readonly onHeld: (held: HeldHost) => void;
}

interface VisitOfRound extends RoundSettings {
  /** When the board was asked, milliseconds since the epoch. */
  readonly atMs: number;
}

export interface HeldHost {
  readonly host: string;
  /** The boards of the round that were not visited. */
  readonly boards: readonly WatchedBoard[];
  readonly untilMs: number;
}

/** Pause between two tries to write while another process does, milliseconds. */
export const BUSY_PAUSE_MS = 200;

/** @throws HistoryError, and what `aside` throws */
export async function runRound(boards: readonly WatchedBoard[], settings: RoundSettings): Promise<void> {
  const hosts = [...Map.groupBy([...boards].sort(mostUrgentFirst), (board) => askedHostOf(board, settings.origins))];
  const stop = new AbortController();
  const signal = AbortSignal.any([settings.signal, stop.signal]);
  const stoppable = { ...settings, signal };
  const keeper = new Keeper(stoppable);
  let nextHost = 0;
  const work = async (): Promise<void> => {
    for (let next = hosts[nextHost++]; next !== undefined; next = hosts[nextHost++]) {
      const [host, ofHost] = next;
      await visitHost(host, ofHost, keeper, stoppable);
    }
  };
  // The other visits end their requests; the next round repeats them.
  const stopping = (failure: unknown): never => {
    stop.abort();
    throw failure;
  };
  const workers = Array.from({ length: Math.min(VISITS_AT_ONCE, hosts.length) }, () => work().catch(stopping));
  const done = new AbortController();
  const aside = doAside(keeper, stoppable, AbortSignal.any([signal, done.signal])).catch(stopping);
  aside.catch(() => {}); // it is awaited below, after the visits under way
  const worked = await Promise.allSettled(workers);
  done.abort();
  const failed = [...worked, ...(await Promise.allSettled([aside]))].find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Boards that failed last time may slow down their host, so the others of the next hour go first. */
const FAILED_LATER_MS = HOUR_MS;

const urgencyOf = ({ nextMs, state }: WatchedBoard): number =>
  nextMs + (state?.health === 'failed' ? FAILED_LATER_MS : 0);
/** Longest due first: boards left by a round that ends early come early in a later one. */
const mostUrgentFirst = (a: WatchedBoard, b: WatchedBoard): number => urgencyOf(a) - urgencyOf(b);

async function doAside(keeper: Keeper, { aside, pace }: RoundSettings, end: AbortSignal): Promise<void> {
  if (aside === null) return;
  for (;;) {
    await pace.pause(aside.everyMs, end);
    if (end.aborted) return;
    await keeper.between(() => aside.act());
  }
}

/** Visits the boards of a host one after another, until the host must be paused. */
async function visitHost(
  host: string,
  boards: readonly WatchedBoard[],
  keeper: Keeper,
  settings: RoundSettings,
): Promise<void> {
  const { clock, enough, onHeld, origins, signal, tables } = settings;
  for (const [index, { name }] of boards.entries()) {
    if (signal.aborted || enough.aborted) return;
    // Since the round began, the board may have been removed, or moved to another host, which this call must not ask.
    const board = tables.find(name);
    if (board === undefined || askedHostOf(board, origins) !== host) continue;
    const untilMs = await visit(board, host, keeper, settings);
    if (untilMs === undefined || untilMs <= clock.nowMs()) continue;
    await keeper.keep(async () => {
      const ofHost = tables.list().filter((one) => askedHostOf(one, origins) === host);
      const names = ofHost.map(({ name }) => name);
      keepPostponed(names, untilMs, settings);
    });
    return onHeld({ host, boards: boards.slice(index + 1), untilMs });
  }
}

/** @returns until when the host must be paused; undefined = continue with its next board */
async function visit(
  board: WatchedBoard,
  host: string,
  keeper: Keeper,
  settings: RoundSettings,
): Promise<number | undefined> {
  const atMs = settings.clock.nowMs();
  const memory = settings.feedMemory.claim();
  let listed: Listed;
  try {
    listed = await visitList(board, host, keeper, { ...settings, memory, atMs });
  } finally {
    memory.release();
  }
  if (listed.kind === 'held') return listed.untilMs;
  return listed.wanted.length === 0 ? undefined : visitDetails(board, listed.wanted, keeper, { ...settings, atMs });
}

/** The outcome of a visit to a board's list. */
type Listed =
  /** The host failed; undefined: not often enough to be paused. */
  | { readonly kind: 'held'; readonly untilMs: number | undefined }
  /** Visited; `wanted` are the descriptions that the list lacks. */
  | { readonly kind: 'visited'; readonly wanted: readonly Wanted[] };

async function visitList(
  board: WatchedBoard,
  host: string,
  keeper: Keeper,
  settings: VisitOfRound & { readonly memory: FeedClaim },
): Promise<Listed> {
  const { atMs, clock, hosts, onVisit, signal } = settings;
  const fetched = await fetchInTime(board, settings);
  if (signal.aborted) return { kind: 'visited', wanted: [] };
  let isTaken = false;
  await keeper.keep(async () => {
    const report = await keepVisit({ board, fetched, atMs }, settings);
    if (report === undefined) return;
    isTaken = report.status === 'ok';
    onVisit(report);
  });
  if (fetched.kind === 'failed' && fetched.isOfHost) {
    return {
      kind: 'held',
      untilMs: hosts.failed(host, board.name, {
        startMs: atMs,
        nowMs: clock.nowMs(),
        retryAfterMs: fetched.retryAfterMs,
      }),
    };
  }
  hosts.answered(host);
  const isListed = isTaken && fetched.kind === 'feed';
  return { kind: 'visited', wanted: isListed ? rowsWithout(settings, board, fetched.pages, settings) : [] };
}

/** @throws any failure other than unreadable content */
function unreadable(failure: unknown): FetchedFeed {
  const reason = unreadableReason(failure);
  if (reason === undefined) throw failure;
  return { kind: 'failed', status: null, reason, retryAfterMs: null, isOfHost: false, isGone: false };
}

/** Fetches the feed; fails when all its pages together take too long. @throws HistoryError */
async function fetchInTime(
  board: WatchedBoard,
  settings: VisitOfRound & { readonly memory: FeedClaim },
): Promise<FetchedFeed> {
  const { atMs, client, history, memory, origins, pace, signal } = settings;
  const late = new AbortController();
  const done = new AbortController();
  const visitMs = VISIT_MS_MAX + FEED_PAGES_MAX * pace.pauseMs;
  void pace.pause(visitMs, AbortSignal.any([signal, done.signal])).then(() => late.abort());
  const ended = AbortSignal.any([signal, late.signal]);
  const validators = validatorsFor(board, settings);
  const asked = { atMs, client, history, memory, origins, signal: ended };
  const fetched = await fetchFeed(board, { client, memory, origins, validators, signal: ended })
    .then((listed) => (listed.kind === 'feed' ? withStanding(listed, board, asked) : listed))
    .catch(unreadable);
  const isLate = late.signal.aborted;
  done.abort();
  if (!isLate || fetched.kind !== 'failed') return fetched;
  const reason = `its pages took more than ${Math.round(visitMs / MINUTE_MS)} minutes`;
  return { ...fetched, reason, isOfHost: !memory.hasWaited };
}

/** Fetches descriptions that the list lacks. @returns as `visit` */
async function visitDetails(
  board: WatchedBoard,
  wanted: readonly Wanted[],
  keeper: Keeper,
  settings: VisitOfRound,
): Promise<number | undefined> {
  const { atMs, client, clock, enough, signal } = settings;
  const found = await fetchDetails(board, wanted, client, AbortSignal.any([signal, enough]));
  if (signal.aborted) return undefined;
  const { asked, retryAfterMs } = found;
  // Later than the list, whatever the clock does, because descriptions must count as the latest observation.
  const keptMs = Math.max(clock.nowMs(), atMs + 1);
  const isMore = asked.length < wanted.length && (enough.aborted || asked.length === DETAILS_MAX);
  if (asked.length > 0 || isMore)
    await keeper.keep(() => keepDetails(board, found, { atMs: keptMs, isMore }, settings));
  // The client has already waited for a shorter pause.
  const isHeld = retryAfterMs !== null && retryAfterMs > WAITED_MS_MAX;
  return isHeld ? clock.nowMs() + Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) : undefined;
}

/** Validators are sent only if a 304 would tell everything. */
const validatorsFor = (board: WatchedBoard, settings: VisitOfRound): Validators | null =>
  board.state?.validators != null && isUpToDate(board, settings.atMs, settings) ? board.state.validators : null;

/** Stores visits one after another: the history allows one transaction at a time. */
class Keeper {
  readonly #settings: RoundSettings;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: RoundSettings) {
    this.#settings = settings;
  }

  /** @param act runs in a transaction, which it ends @throws HistoryError */
  keep(act: () => Promise<void>): Promise<void> {
    return this.between(() => this.#keep(act));
  }

  /** @param act runs outside a transaction: nothing is stored meanwhile */
  between(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }

  async #keep(act: () => Promise<void>): Promise<void> {
    const { history, onBusy, pace, signal } = this.#settings;
    for (let isFirst = true; !history.tryBegin(); isFirst = false) {
      if (isFirst) onBusy();
      await pace.pause(BUSY_PAUSE_MS, signal);
      if (signal.aborted) return;
    }
    await act();
  }
}
