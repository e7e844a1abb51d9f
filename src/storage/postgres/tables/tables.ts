/** The one list of what the database holds. */
import { accounts } from './accounts.ts';
import { callbacks } from './callbacks.ts';
import { clock } from './clock.ts';
import { identity } from './identity.ts';
import { payments } from './payments.ts';
import { playLedger } from './play-ledger.ts';
import { processes } from './processes.ts';
import { rates } from './rates.ts';
import { resolves } from './resolves.ts';
import { retries } from './retries.ts';
import { sales } from './sales.ts';
import { secrets } from './secrets.ts';
import type { DomainTables } from './table.ts';

/** In the order in which they are created. */
export const TABLES: readonly DomainTables[] = [
  clock,
  processes,
  secrets,
  payments,
  identity,
  sales,
  playLedger,
  callbacks,
  accounts,
  rates,
  retries,
  resolves,
];
