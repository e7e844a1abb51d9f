/** The tables of watched boards (board-tables.ts). */

/**
 * `watched`: name is `shape:token`; one without a state was never fetched. `watched_day`: what a day's fetches of a board
 * found; `day` is the number of days since the epoch, UTC. `watched_detail`: jobs whose description was requested without
 * success (schedule.ts, `DetailTries`). `watched_page`: addresses given by people whose page led to the board `name`.
 */
export const BOARD_TABLES = `
  CREATE TABLE watched (
    name TEXT PRIMARY KEY COLLATE NOCASE, shape TEXT NOT NULL, token TEXT NOT NULL, company TEXT, domain TEXT,
    address TEXT NOT NULL, added_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL, state TEXT
  ) WITHOUT ROWID;
  CREATE TABLE watched_day (
    name TEXT NOT NULL COLLATE NOCASE, day INTEGER NOT NULL, fetches INTEGER NOT NULL, opened INTEGER NOT NULL,
    changed INTEGER NOT NULL, closed INTEGER NOT NULL, reopened INTEGER NOT NULL, PRIMARY KEY (name, day)
  ) WITHOUT ROWID;
  CREATE TABLE watched_detail (
    name TEXT NOT NULL COLLATE NOCASE, id TEXT NOT NULL, tries INTEGER NOT NULL, tried_ms INTEGER NOT NULL,
    PRIMARY KEY (name, id)
  ) WITHOUT ROWID;
  CREATE TABLE watched_page (address TEXT PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE) WITHOUT ROWID;
`;
