/** The watched boards in a catalogue's folder, as the server shows them; opens the file for each request. */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import {
  BoardsUnavailableError,
  type ShownBoard,
  type WatchedBoards,
  type WatchedBoardsView,
} from '../../catalogue/watched-boards.ts';
import { wordOfCompany } from '../../ingest/companies/company-file.ts';
import { BoardTables, type WatchedBoard } from './board-tables.ts';
import { storedWords, storeWords } from './company-tables.ts';
import { HistoryDatabase, HistoryError } from './database.ts';

/** Longest wait for an import that writes or a build that reads, because the wait blocks every other request. */
const WAIT_MS = 50;

const shownOf = ({ state, ...board }: WatchedBoard): ShownBoard => ({
  name: board.name,
  company: board.company,
  domain: board.domain,
  address: board.address,
  health: state?.health ?? 'new',
  jobs: state?.rows ?? null,
  lastJobs: state?.lastRows ?? null,
  lastFetchMs: state?.lastFetchMs ?? null,
  lastOkMs: state?.lastOkMs ?? null,
  nextMs: board.nextMs,
  httpStatus: state?.httpStatus ?? null,
  reason: state?.reason ?? null,
});

export class WatchedBoardsFile implements WatchedBoards {
  readonly #folder: string;

  /** @param folder of the catalogue; it may be created later */
  constructor(folder: string) {
    this.#folder = folder;
  }

  read(sinceMs: number): WatchedBoardsView {
    return this.#with(
      () => HistoryDatabase.openForGlance(this.#folder, WAIT_MS),
      (history) => {
        const tables = new BoardTables(history);
        const words = storedWords(history).filter(({ kind, domain }) => kind === 'name' && domain !== null);
        return {
          boards: tables.list().map(shownOf),
          days: tables.days(sinceMs),
          statedNames: new Set(words.map(({ key }) => key)),
        };
      },
    );
  }

  stateDomain(company: string, domain: CompanyDomain): void {
    this.#with(
      () => {
        // Opens it for reading first, to report a missing catalogue: opening for writing would create one.
        HistoryDatabase.openForGlance(this.#folder, WAIT_MS).close();
        return HistoryDatabase.openForSettings(this.#folder, WAIT_MS);
      },
      (history) => {
        if (storeWords(history, [wordOfCompany(company, domain, [])])) history.commit(WAIT_MS);
      },
    );
  }

  #with<Result>(open: () => HistoryDatabase, act: (history: HistoryDatabase) => Result): Result {
    let history: HistoryDatabase | undefined;
    try {
      history = open();
      return act(history);
    } catch (failure) {
      if (failure instanceof HistoryError) {
        throw new BoardsUnavailableError(failure.message, { cause: failure });
      }
      throw failure;
    } finally {
      history?.close();
    }
  }
}
