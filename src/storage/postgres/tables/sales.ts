/**
 * The books: one row a sale, inserted by the statement that records its settlement. `facts` is JSON that only people read.
 */
import type { DomainTables } from './table.ts';

export const sales: DomainTables = {
  name: 'sales',
  migrations: [
    `CREATE TABLE paygrade.sales (
       serial bigint PRIMARY KEY,
       key bytea NOT NULL,
       time_ms bigint NOT NULL,
       operation text NOT NULL,
       amount numeric(78) NOT NULL,
       network text NOT NULL,
       payer text NOT NULL,
       nonce text NOT NULL,
       transaction text NOT NULL,
       settlement text NOT NULL,
       facts text NOT NULL,
       is_delivered boolean NOT NULL DEFAULT false
     );
     CREATE INDEX sales_key ON paygrade.sales (key);
     CREATE INDEX sales_time ON paygrade.sales (time_ms, serial);
     CREATE INDEX sales_undelivered ON paygrade.sales (time_ms, serial) WHERE NOT is_delivered`,
  ],
};
