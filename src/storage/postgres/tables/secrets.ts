/** Small values that are made once and are the same for all processes: the key of the books' digests, a throwaway recipient. */
import type { DomainTables } from './table.ts';

export const secrets: DomainTables = {
  name: 'secrets',
  migrations: ['CREATE TABLE paygrade.secrets (name text PRIMARY KEY, bytes bytea NOT NULL)'],
};
