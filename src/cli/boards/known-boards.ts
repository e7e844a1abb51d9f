/** Finds boards that a catalogue already has by an address, without a request. */
import { boardOfAddress } from '../../ingest/boards/address-rules.ts';
import { nameOfBoard } from '../../ingest/boards/board.ts';
import type { BoardTables, WatchedBoard } from '../../storage/history/board-tables.ts';

const plain = (address: string): string => address.replace(/\/+$/, '');

/** @param ofPage finds a board by the plain form of its address */
function found(
  tables: BoardTables,
  text: string,
  ofPage: (plainAddress: string) => WatchedBoard | undefined,
): WatchedBoard | undefined {
  const given = text.trim();
  const named = tables.find(given) ?? tables.boardOfPage(given);
  if (named !== undefined) return named;
  const verdict = boardOfAddress(text);
  if (verdict.kind === 'board') return tables.find(nameOfBoard(verdict));
  return verdict.kind === 'page' ? ofPage(plain(verdict.address)) : undefined;
}

/** The board in the list by its name, its address, another address of it, or a page that was looked at before. */
export const findBoard = (tables: BoardTables, text: string): WatchedBoard | undefined =>
  found(tables, text, (address) => tables.list().find((board) => plain(board.address) === address));

/** Boards already in the list, by address. */
export function knownBoards(
  tables: BoardTables,
  stated: readonly { readonly address: string }[],
): ReadonlyMap<string, WatchedBoard> {
  const byAddress = new Map(tables.list().map((board) => [plain(board.address), board]));
  return new Map(
    stated.flatMap(({ address }) => {
      const board = found(tables, address, (page) => byAddress.get(page));
      return board === undefined ? [] : [[address, board] as const];
    }),
  );
}
