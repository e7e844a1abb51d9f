/** Small values, created once and shared by all processes: the key of the books' digests, a throwaway recipient. */
import type { DomainTables } from './table.ts';

export const secrets: DomainTables = {
  name: 'secrets',
  migrations: ['CREATE TABLE paygrade.secrets (name text PRIMARY KEY, bytes bytea NOT NULL)'],
};
