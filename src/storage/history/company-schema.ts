/** The tables about companies (company-tables.ts, host-staging.ts). */

/**
 * `host`: kind `site` or `link`; `company` is the employer's key on its board (employer.ts); `at_ms` is the time of the last feed
 * that named it. `word_file`: boards that came from a file whose name is the key of a word.
 */
export const COMPANY_TABLES = `
  CREATE TABLE host (
    board INTEGER NOT NULL, company TEXT NOT NULL, kind TEXT NOT NULL, host TEXT NOT NULL, rows INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, PRIMARY KEY (board, kind, company, host)
  ) WITHOUT ROWID;
  CREATE TABLE word (
    kind TEXT NOT NULL, key TEXT NOT NULL, company TEXT, domain TEXT, url TEXT, aliases TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) WITHOUT ROWID;
  CREATE TABLE word_file (key TEXT NOT NULL, board INTEGER NOT NULL, PRIMARY KEY (key, board)) WITHOUT ROWID;
`;
