/** What the commands about boards share: options, the way out, and how the list of a catalogue is opened. */
import { BoardLook } from '../../adapters/boards/board-look.ts';
import { awakeTimers } from '../../adapters/process/system-timers.ts';
import { systemRandom } from '../../base/random.ts';
import { loadCompanyList } from '../../ingest/companies/company-list.ts';
import { BoardTables } from '../../storage/history/board-tables.ts';
import { HistoryDatabase, HistoryError } from '../../storage/history/database.ts';
import { CommandError, type IntegerOption, type TextOption } from '../command.ts';
import type { Io } from '../io.ts';
import { REACH_OPTIONS, reachSettings } from '../watch/watch-settings.ts';
import { openWayOut } from '../watch/way-out.ts';

export const BOARD_CATALOGUE = {
  type: 'text',
  value: 'DIR',
  help: 'folder of the catalogue that `import` and `watch` fill; made when missing',
  required: true,
} as const satisfies TextOption;

export const LOOK_OPTIONS = {
  'host-pause-ms': {
    type: 'integer',
    value: 'N',
    min: 0,
    max: 3_600_000,
    default: 1000,
    help: 'milliseconds between two requests to one host',
  } as const satisfies IntegerOption,
  ...REACH_OPTIONS,
};

export const REACH_NOTE =
  'The environment sets CONTACT (named in the User-Agent), TARGET_ALLOW and BOARD_ENDPOINTS as the flags do.';

/** Addresses that are looked at together; those of one host wait for each other. */
export const LOOKS_AT_ONCE = 16;

/** Evenly from 0 (included) to 1 (excluded). */
const draw = (): number => new DataView(systemRandom.bytes(4).buffer).getUint32(0) / 2 ** 32;

/** @throws UsageError */
export function openLook(flags: Readonly<Record<string, unknown>>, io: Io, signal: AbortSignal): BoardLook {
  const { contact, targetAllow, boardEndpoints } = reachSettings(flags, io.env);
  const pauseMs = flags['host-pause-ms'] as number;
  const { clock } = io;
  const { client } = openWayOut({ contact, targetAllow, pauseMs, draw, clock, timers: awakeTimers });
  return new BoardLook({ client, origins: boardEndpoints, list: loadCompanyList(), clock, signal });
}

/** Reads the list of a catalogue. @throws CommandError */
export const readBoards = <Result>(folder: string, read: (boards: BoardTables) => Result): Result =>
  withHistory(
    () => HistoryDatabase.openForGlance(folder),
    (history) => read(new BoardTables(history)),
  );

/** Changes the list of a catalogue, in one transaction. @throws CommandError */
export const changeBoards = <Result>(
  folder: string,
  change: (boards: BoardTables, history: HistoryDatabase) => Result,
): Result =>
  withHistory(
    () => HistoryDatabase.openForSettings(folder),
    (history) => {
      const result = change(new BoardTables(history), history);
      history.database.exec('COMMIT');
      return result;
    },
  );

function withHistory<Result>(open: () => HistoryDatabase, act: (history: HistoryDatabase) => Result): Result {
  let history: HistoryDatabase | undefined;
  try {
    history = open();
    return act(history);
  } catch (error) {
    if (error instanceof HistoryError) throw new CommandError(error.message);
    throw error;
  } finally {
    history?.close();
  }
}
