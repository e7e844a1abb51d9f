/** `boards import`: boards from a CSV file. */
import { parseBoardFile, type StatedBoard } from '../../ingest/boards/board-file.ts';
import { command } from '../command.ts';
import type { Io } from '../io.ts';
import { operatorFile } from '../operator-file.ts';
import { stopSignal, UNTIL_STDIN_ENDS } from '../stop-signal.ts';
import { REACH_NOTE, REACH_OPTIONS } from '../watch/watch-settings.ts';
import { addBoards } from './add-boards.ts';
import { BOARD_CATALOGUE, changeBoards, openLook } from './board-options.ts';
import { knownBoards } from './known-boards.ts';

/** The boards of a file; refuses the file if any line is bad, and names every bad line. @throws CommandError */
export async function boardsOfFile(path: string, io: Io): Promise<readonly StatedBoard[]> {
  return (await operatorFile(path, parseBoardFile, 'nothing was added', io.stderr)).boards;
}

export const importBoards = command({
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
    'skip-known': { type: 'flag', help: 'leave out addresses whose boards are watched already' },
    ...REACH_OPTIONS,
    'until-stdin-ends': UNTIL_STDIN_ENDS,
    json: { type: 'flag', help: 'one JSON object an address on stdout' },
  },
  notes: [
    'Reads each address as `boards add` does. A company or domain in the file counts like one of `companies set`. A bad line is reported with its number, field and reason, and then nothing is added.',
    REACH_NOTE,
    'Exit code 1: at least one address was not added; the others were.',
  ],
  async run({ options, arguments: [path] }, io) {
    const { catalogue: folder, json: isJson } = options;
    let boards = await boardsOfFile(path, io);
    if (options['skip-known']) {
      const known = await changeBoards(folder, (tables) => knownBoards(tables, boards));
      boards = boards.filter(({ address }) => !known.has(address));
    }
    const { signal } = stopSignal(io, { names: [], endsWithStdin: options['until-stdin-ends'] });
    const look = options.unchecked ? null : openLook(options, io, signal);
    return addBoards({ folder, boards, look, isJson, signal }, io);
  },
});
