/** `boards check`: asks watched boards what they list now, and changes nothing. */
import { grouped, quantity } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import type { WatchedBoard } from '../../storage/history/board-tables.ts';
import { CommandError, command, EXIT_FAILED, EXIT_OK, quoted } from '../command.ts';
import { REACH_NOTE, REACH_OPTIONS } from '../watch/watch-settings.ts';
import { type Addition, additionJson, jobsText, looksOf } from './add-boards.ts';
import { BOARD_CATALOGUE, openLook, readBoards } from './board-options.ts';
import { findBoard } from './known-boards.ts';

function lineOf(board: WatchedBoard, checked: Addition): string {
  const name = printable(board.name, 120);
  if ('error' in checked) return `${name}: ${printable(checked.error, 400)}\n`;
  const before = board.state?.rows ?? null;
  const known = before === null ? '' : `, ${grouped(before)} at the last fetch`;
  return `${name}: ${jobsText(checked)}${known}\n`;
}

export const checkBoards = command({
  arguments: [{ name: 'BOARD', help: 'shape:token or address; every board when none is given', count: 'many' }],
  options: {
    catalogue: { ...BOARD_CATALOGUE, help: 'folder of the catalogue' },
    ...REACH_OPTIONS,
    json: { type: 'flag', help: 'one JSON object a board on stdout' },
  },
  notes: [REACH_NOTE, 'Exit code 1: at least one board does not answer with a list of jobs.'],
  async run({ options, arguments: texts }, io) {
    const boards = await readBoards(options.catalogue, (tables) => {
      if (texts.length === 0) return tables.list();
      return texts.map((text) => {
        const board = findBoard(tables, text);
        if (board === undefined) throw new CommandError(`${quoted(text)} is no watched board of ${options.catalogue}`);
        return board;
      });
    });
    const look = openLook(options, io);
    let failed = 0;
    const checks = looksOf(boards, async (board) => [board, await look.ask(board)] as const);
    for await (const [board, asked] of checks) {
      const { address } = board;
      const checked: Addition = asked.ok
        ? {
            address,
            board: {
              ...board,
              company: board.company ?? asked.board.company,
              domain: board.domain ?? asked.board.domain,
            },
            jobs: asked.jobs,
            isFirstPage: asked.isFirstPage,
            word: null,
          }
        : { address, error: asked.reason };
      if (!asked.ok) failed++;
      if (options.json) io.stdout.write(`${additionJson(checked)}\n`);
      else io.stdout.write(lineOf(board, checked));
    }
    io.stderr.write(`${quantity(boards.length, 'board')} asked, ${grouped(failed)} without a list of jobs\n`);
    return failed > 0 ? EXIT_FAILED : EXIT_OK;
  },
});
