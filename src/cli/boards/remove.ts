/** `boards remove`: stops watching boards. Their jobs stay in the catalogue. */
import { CommandError, command, EXIT_FAILED, EXIT_OK, quoted, UsageError } from '../command.ts';
import { additionJson } from './add-boards.ts';
import { BOARD_CATALOGUE, changeBoards } from './board-options.ts';
import { findBoard } from './known-boards.ts';

export const removeBoards = command({
  arguments: [
    { name: 'BOARD', help: 'shape:token as `boards list` shows it, or an address of the board', count: 'many' },
  ],
  options: {
    catalogue: { ...BOARD_CATALOGUE, help: 'folder of the catalogue' },
    json: { type: 'flag', help: 'one JSON object an address on stdout' },
  },
  notes: ['All of them are removed, or none when one is not in the list.', 'Exit code 1: none was removed.'],
  async run({ options, arguments: texts }, { stdout, stderr }) {
    if (texts.length === 0) throw new UsageError('the argument BOARD is missing');
    const found = await changeBoards(options.catalogue, (tables) => {
      const boards = texts.map((text) => [text, findBoard(tables, text)] as const);
      const isWhole = boards.every(([, board]) => board !== undefined);
      if (isWhole) for (const [, board] of boards) tables.remove(board!.name);
      return boards;
    });
    const unknown = found.find(([, board]) => board === undefined)?.[0];
    const reasonOf = (text: string): string => `${quoted(text)} is no watched board of ${options.catalogue}`;
    if (options.json) {
      for (const [address, board] of found) {
        const jobs = board?.state?.rows ?? null;
        const error = board === undefined ? reasonOf(address) : `not removed, because ${reasonOf(unknown ?? '')}`;
        const isRemoved = board !== undefined && unknown === undefined;
        stdout.write(`${additionJson(isRemoved ? { address, board, jobs, word: null } : { address, error })}\n`);
      }
      return unknown === undefined ? EXIT_OK : EXIT_FAILED;
    }
    if (unknown !== undefined) throw new CommandError(reasonOf(unknown));
    const names = new Set(found.flatMap(([, board]) => board?.name ?? []));
    for (const name of names) stderr.write(`${name}: no longer watched\n`);
    return EXIT_OK;
  },
});
