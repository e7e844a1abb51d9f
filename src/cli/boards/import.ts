/** `boards import`: boards from a CSV file. */
import { readFile } from 'node:fs/promises';
import { errorCodeOf } from '../../base/failure.ts';
import { printable } from '../../base/printable.ts';
import { parseBoardFile, type StatedBoard } from '../../ingest/boards/board-file.ts';
import { CommandError, command } from '../command.ts';
import type { Io } from '../io.ts';
import { REACH_NOTE, REACH_OPTIONS } from '../watch/watch-settings.ts';
import { addBoards } from './add-boards.ts';
import { BOARD_CATALOGUE, openLook } from './board-options.ts';

/** Bad lines that are shown one by one. */
const SHOWN_COUNT_MAX = 20;

/** The boards of a file; a bad line ends it, with every bad line named. @throws CommandError */
export async function boardsOfFile(path: string, io: Io): Promise<readonly StatedBoard[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`${printable(path)} cannot be read (${errorCodeOf(error) ?? 'unknown'})`);
  });
  const { boards, refused } = parseBoardFile(text);
  if (refused.length === 0) return boards;
  for (const { line, field, reason } of refused.slice(0, SHOWN_COUNT_MAX)) {
    io.stderr.write(`line ${line}: ${field} ${reason}\n`);
  }
  throw new CommandError(
    `${printable(path)}: ${refused.length} bad line${refused.length === 1 ? '' : 's'}; nothing was added`,
  );
}

export const importBoards = command({
  name: 'import',
  summary: 'Adds boards from a CSV file',
  arguments: [
    {
      name: 'FILE',
      help: 'CSV with a column address and, where wanted, company and domain; or one address a line',
      count: 'one',
    },
  ],
  options: {
    catalogue: BOARD_CATALOGUE,
    unchecked: { type: 'flag', help: 'by the addresses alone: ask nothing' },
    ...REACH_OPTIONS,
    json: { type: 'flag', help: 'one JSON object an address on stdout' },
  },
  notes: [
    'Each address is taken as `boards add` takes it. A company or domain of the file is your word about the board, like one of `companies set`. A bad line is named with its number, field and reason, and nothing is added then.',
    REACH_NOTE,
    'Exit code 1: at least one address was not taken; the others were.',
  ],
  async run({ options, arguments: [path = ''] }, io) {
    const boards = await boardsOfFile(path, io);
    const look = options.unchecked ? null : openLook(options, io);
    return addBoards({ folder: options.catalogue, boards, look, isJson: options.json }, io);
  },
});
