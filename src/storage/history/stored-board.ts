/**
 * The board of a catalogue behind a token. Platforms take the token of a company's board in any case, and sources write it in
 * several (`Acme` in a posting, `acme` in an address or a list): the case in which the catalogue has it first is the board's, in
 * the ids of its jobs too.
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
  // The same spelling first: an index has it, and of two boards that an earlier release kept apart each keeps its own.
  return history.guarded(() => found('') ?? (hasToken(shape) ? found('COLLATE NOCASE') : undefined));
}

/** The spellings of the boards of one import: those of the catalogue, else the first that the import meets. */
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
