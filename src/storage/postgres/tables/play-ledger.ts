/** The play ledger: what each payer has spent, and the nonces whose window may still be open. */
import type { DomainTables } from './table.ts';

export const playLedger: DomainTables = {
  name: 'play-ledger',
  migrations: [
    `CREATE TABLE paygrade.play_spent (payer text PRIMARY KEY, atomic numeric(78) NOT NULL) WITH (fillfactor = 75);
     CREATE TABLE paygrade.play_transfers (key bytea PRIMARY KEY, valid_before bigint NOT NULL);
     CREATE INDEX play_transfers_window ON paygrade.play_transfers (valid_before)`,
  ],
};
