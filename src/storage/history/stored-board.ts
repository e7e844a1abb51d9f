/**
 * Finds a catalogue's board by token. Platforms accept a board's token in any case, and sources vary it (`Acme` in a
 * posting, `acme` in an address or a list): the spelling that the catalogue has first is the board's, in the ids of its
 * jobs too.
 */
import { hasToken } from '../../ingest/companies/employer.ts';
import type { HistoryDatabase } from './database.ts';

export interface StoredBoard {
  readonly serial: number;
  /** As the catalogue spells it. */
  readonly token: string;
}

/** @throws HistoryError */
export function storedBoard(history: HistoryDatabase, shape: string, token: string): StoredBoard | undefined {
  const found = (collation: string): StoredBoard | undefined => {
    const sql = `SELECT serial, token FROM board WHERE shape = ? AND token = ? ${collation} ORDER BY serial LIMIT 1`;
    const row = history.row(sql, shape, token);
    return row && { serial: row.serial as number, token: row.token as string };
  };
  // Looks for the same spelling first: an index has it, and two boards that an earlier release kept apart stay apart.
  return found('') ?? (hasToken(shape) ? found('COLLATE NOCASE') : undefined);
}

/** The spellings of the boards of one import: that of the catalogue, else the first in the import. */
export class BoardSpellings {
  readonly #history: HistoryDatabase;
  readonly #known = new Map<string, string>();

  constructor(history: HistoryDatabase) {
    this.#history = history;
  }

  /** @throws HistoryError */
  of(shape: string, token: string): string {
    if (!hasToken(shape)) return token;
    const key = `${shape}\n${token}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const compared = key.toLowerCase();
    const found = storedBoard(this.#history, shape, token)?.token ?? this.#known.get(compared) ?? token;
    this.#known.set(key, found);
    if (!this.#known.has(compared)) this.#known.set(compared, found);
    return found;
  }
}
