/** `boards remove`: stops watching boards. What the catalogue knows of their jobs stays. */
import { boardOfAddress } from '../../ingest/boards/address-rules.ts';
import { nameOfBoard } from '../../ingest/boards/board.ts';
import type { BoardTables } from '../../storage/history/board-tables.ts';
import { CommandError, command, EXIT_OK, quoted, UsageError } from '../command.ts';
import { BOARD_CATALOGUE, changeBoards } from './board-options.ts';

/** The name of a board that is in the list, by its name, its address, or another address of it. */
export function listedName(tables: BoardTables, text: string): string | undefined {
  const given = tables.find(text.trim());
  if (given !== undefined) return given.name;
  const verdict = boardOfAddress(text);
  if (verdict.kind === 'board') return tables.find(nameOfBoard(verdict))?.name;
  if (verdict.kind !== 'page') return undefined;
  const plain = (address: string): string => address.replace(/\/+$/, '');
  return tables.list().find(({ address }) => plain(address) === plain(verdict.address))?.name;
}

export const removeBoards = command({
  name: 'remove',
  summary: 'Stops watching boards; the catalogue keeps their jobs as they are',
  arguments: [
    { name: 'BOARD', help: 'shape:token as `boards list` shows it, or an address of the board', count: 'many' },
  ],
  options: { catalogue: { ...BOARD_CATALOGUE, help: 'folder of the catalogue' } },
  notes: ['All of them are removed, or none when one is not in the list.'],
  async run({ options, arguments: texts }, { stderr }) {
    if (texts.length === 0) throw new UsageError('the argument BOARD is missing');
    const names = changeBoards(options.catalogue, (tables) => {
      const found = texts.map((text) => {
        const name = listedName(tables, text);
        if (name === undefined) throw new CommandError(`${quoted(text)} is no watched board of ${options.catalogue}`);
        return name;
      });
      for (const name of found) tables.remove(name);
      return [...new Set(found)];
    });
    for (const name of names) stderr.write(`${name}: no longer watched\n`);
    return EXIT_OK;
  },
});
