/** What the commands about boards share: options, the outbound client, and access to the list of a catalogue. */
import { BoardLook } from '../../adapters/boards/board-look.ts';
import { awakeTimers } from '../../adapters/process/system-timers.ts';
import { drawFrom, systemRandom } from '../../base/random.ts';
import { loadCompanyList } from '../../ingest/companies/company-list.ts';
import { BoardTables } from '../../storage/history/board-tables.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import type { TextOption } from '../command.ts';
import type { Io } from '../io.ts';
import { NEVER_STOPPED } from '../stop-signal.ts';
import { reachSettings } from '../watch/watch-settings.ts';
import { openWayOut } from '../watch/way-out.ts';
import { withHistory } from '../with-history.ts';

export const BOARD_CATALOGUE = {
  type: 'text',
  value: 'DIR',
  help: 'folder of the catalogue that `import` and `watch` fill; made when missing',
  required: true,
} as const satisfies TextOption;

/** Addresses looked at concurrently; those on one host wait for each other. */
export const LOOKS_AT_ONCE = 16;

/**
 * @param flags with those of `REACH_OPTIONS`
 * @param signal ends requests; without one, SIGTERM or SIGINT does
 * @throws UsageError
 */
export function openLook(
  flags: Readonly<Record<string, unknown>>,
  { env, clock }: Io,
  signal = NEVER_STOPPED,
): BoardLook {
  const reach = reachSettings(flags, env);
  const draw = (): number => drawFrom(systemRandom);
  const { client } = openWayOut({ ...reach, draw, clock, timers: awakeTimers });
  return new BoardLook({ client, origins: reach.boardEndpoints, list: loadCompanyList(), clock, signal });
}

/** Reads the list of a catalogue. @throws CommandError */
export const readBoards = <Result>(folder: string, read: (boards: BoardTables) => Result): Promise<Result> =>
  withHistory(
    () => HistoryDatabase.openForGlance(folder),
    (history) => read(new BoardTables(history)),
  );

/** Changes the list of a catalogue, in one transaction. @throws CommandError */
export const changeBoards = <Result>(
  folder: string,
  change: (boards: BoardTables, history: HistoryDatabase) => Result,
): Promise<Result> =>
  withHistory(
    () => HistoryDatabase.openForSettings(folder),
    (history) => {
      const result = change(new BoardTables(history), history);
      history.commit();
      return result;
    },
  );
