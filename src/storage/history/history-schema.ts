/** The tables of a catalogue's history; database.ts says what each holds. */
import { BOARD_TABLES } from './board-schema.ts';
import { COMPANY_TABLES } from './company-schema.ts';
import { DESCRIPTION_TABLE } from './description-table.ts';

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
