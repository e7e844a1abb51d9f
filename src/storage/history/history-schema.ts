/** The tables of a catalogue's history; database.ts says what each holds. */

/**
 * `watched`: name is `shape:token`; one without a state was never fetched. `watched_day`: what a day's fetches of a board
 * found; `day` is the number of days since the epoch, UTC. `watched_detail`: jobs whose description was requested without
 * success (schedule.ts, `DetailTries`). `watched_page`: addresses given by people whose page led to the board `name`.
 */
const BOARD_TABLES = `
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

/**
 * `host`: kind `site` or `link`; `company` is the employer's key on its board (employer.ts); `at_ms` is the time of the last feed
 * that named it. `word_file`: boards that came from a file whose name is the key of a word.
 */
const COMPANY_TABLES = `
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

/** A text is a Zstandard frame with a checksum; `bytes` is the length of its UTF-8. */
const DESCRIPTION_TABLE = `
  CREATE TABLE description (
    serial INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, is_truncated INTEGER NOT NULL, bytes INTEGER NOT NULL,
    text BLOB NOT NULL
  );
`;

export const SCHEMA = `
  CREATE TABLE board (serial INTEGER PRIMARY KEY, shape TEXT NOT NULL, token TEXT NOT NULL, UNIQUE (shape, token));
  CREATE TABLE feed (
    board INTEGER NOT NULL, at_ms INTEGER NOT NULL, rows INTEGER NOT NULL, is_complete INTEGER NOT NULL,
    PRIMARY KEY (board, at_ms)
  ) WITHOUT ROWID;
  CREATE TABLE job (
    serial INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, board INTEGER NOT NULL, title TEXT NOT NULL,
    company TEXT NOT NULL, company_domain TEXT, location TEXT, department TEXT, remote_status TEXT NOT NULL,
    employment_type TEXT NOT NULL, source_url TEXT NOT NULL, skills TEXT NOT NULL, has_own_skills INTEGER NOT NULL,
    dictionary INTEGER NOT NULL, description_digest TEXT, first_observed_ms INTEGER NOT NULL,
    last_observed_ms INTEGER NOT NULL, present_ms INTEGER NOT NULL, is_source_closed INTEGER NOT NULL,
    closed_ms INTEGER, checksum INTEGER NOT NULL, change INTEGER NOT NULL
  );
  CREATE INDEX job_of_board ON job (board, present_ms);
  CREATE INDEX job_of_description ON job (description_digest);
  CREATE INDEX job_of_change ON job (change);
  CREATE INDEX job_of_company ON job (board, company, company_domain);
  CREATE INDEX job_of_dictionary ON job (dictionary) WHERE has_own_skills = 0;
  CREATE TABLE change (serial INTEGER PRIMARY KEY, token BLOB NOT NULL);
  CREATE TABLE repeated (
    board INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, PRIMARY KEY (board, from_ms)
  ) WITHOUT ROWID;
  CREATE TABLE event (
    serial INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, kind TEXT NOT NULL, job INTEGER NOT NULL,
    field TEXT, before TEXT, after TEXT
  );
  CREATE INDEX event_by_time ON event (at_ms);
  CREATE INDEX event_of_job ON event (job);
  CREATE TABLE dictionary (serial INTEGER PRIMARY KEY, version TEXT NOT NULL UNIQUE);
  ${COMPANY_TABLES}
  ${BOARD_TABLES}
  ${DESCRIPTION_TABLE}
`;
