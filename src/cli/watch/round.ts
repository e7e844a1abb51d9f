/**
 * One round: every board that is due is visited once. Hosts are asked side by side, the boards of one host one after the other;
 * what was found is kept board by board, so that a round that ends early continues where it was.
 */
import type { BoardClient } from '../../adapters/boards/board-client.ts';
import { fetchFeed } from '../../adapters/boards/feed-fetch.ts';
import type { HostPace } from '../../adapters/boards/host-pace.ts';
import { VISITS_AT_ONCE } from '../../adapters/boards/limits.ts';
import { askedHostOf } from '../../ingest/boards/endpoints.ts';
import type { Validators } from '../../ingest/boards/fetch-state.ts';
import type { BoardOrigins } from '../../ingest/boards/origins.ts';
import type { WatchedBoard } from '../../storage/history/board-tables.ts';
import { HistoryImport } from '../../storage/history/import.ts';
import { DETAILS_MAX, fetchDetails, rowsWithout } from './details.ts';
import { keepDetails, keepVisit, type VisitSettings } from './keep-visit.ts';
import type { VisitReport } from './visit-line.ts';

export interface RoundSettings extends VisitSettings {
  readonly client: BoardClient;
  readonly pace: HostPace;
  readonly origins: BoardOrigins;
  readonly signal: AbortSignal;
  /** Another process writes into the catalogue, and the round waits for it; called once for each time. */
  readonly onBusy: () => void;
  readonly onVisit: (report: VisitReport) => void;
}

/** Pause between two tries to write while another process does, milliseconds. */
const BUSY_PAUSE_MS = 200;

/** @throws HistoryError */
export async function runRound(boards: readonly WatchedBoard[], settings: RoundSettings): Promise<void> {
  const hosts = Map.groupBy(boards, (board) => askedHostOf(board, settings.origins));
  const lines = [...hosts.values()];
  const stop = new AbortController();
  const signal = AbortSignal.any([settings.signal, stop.signal]);
  const stoppable = { ...settings, signal };
  const keeper = new Keeper(stoppable);
  let nextLine = 0;
  const work = async (): Promise<void> => {
    for (let line = lines[nextLine++]; line !== undefined; line = lines[nextLine++]) {
      for (const board of line) {
        if (signal.aborted) return;
        await visit(board, keeper, stoppable);
      }
    }
  };
  const workers = Array.from({ length: Math.min(VISITS_AT_ONCE, lines.length) }, () =>
    work().catch((failure: unknown) => {
      // The others end their requests; what they have found since is found again.
      stop.abort();
      throw failure;
    }),
  );
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function visit(board: WatchedBoard, keeper: Keeper, settings: RoundSettings): Promise<void> {
  const { client, nowMs, onVisit, origins, signal } = settings;
  const atMs = nowMs();
  const fetched = await fetchFeed(board, { client, origins, validators: validatorsFor(board, settings), signal });
  if (signal.aborted) return;
  let isTaken = false;
  await keeper.keep(async () => {
    const report = await keepVisit({ board, fetched, atMs }, settings);
    isTaken = report.status === 'ok';
    onVisit(report);
  });
  if (isTaken && fetched.kind === 'feed') await visitDetails(board, fetched.pages, keeper, { ...settings, atMs });
}

/** Descriptions that the list does not have. */
async function visitDetails(
  board: WatchedBoard,
  pages: readonly Uint8Array[],
  keeper: Keeper,
  settings: RoundSettings & { readonly atMs: number },
): Promise<void> {
  const { client, history, nowMs, signal, atMs } = settings;
  const wanted = rowsWithout(history, board, pages, settings);
  if (wanted.length === 0) return;
  const page = await fetchDetails(board, wanted, client, signal);
  if (page === null || signal.aborted) return;
  // Later than the list, whatever the clock does: descriptions are the latest that is known.
  const when = { atMs: Math.max(nowMs(), atMs + 1), isMore: wanted.length > DETAILS_MAX };
  await keeper.keep(() => keepDetails(board, page, when, settings));
}

/** Validators are worth sending only while a 304 would tell all: the last feed was theirs, and its skills are up to date. */
function validatorsFor({ shape, token, state }: WatchedBoard, { history, skills }: RoundSettings): Validators | null {
  if (state?.validators == null || state.skillsVersion !== skills.version) return null;
  return HistoryImport.lastFeedMs(history, shape, token) === state.lastOkMs ? state.validators : null;
}

/** Keeps visits one after the other: the history has one transaction at a time. */
class Keeper {
  readonly #settings: RoundSettings;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: RoundSettings) {
    this.#settings = settings;
  }

  /** @param act in a transaction, which it ends @throws HistoryError */
  keep(act: () => Promise<void>): Promise<void> {
    const kept = this.#last.then(() => this.#keep(act));
    this.#last = kept.catch(() => {});
    return kept;
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
