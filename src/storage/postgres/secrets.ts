/** Values that the first process makes and all others find (tables/secrets.ts). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { StateError } from '../state-error.ts';
import type { DatabaseAddress } from './address.ts';
import type { Database } from './database.ts';

/** Name of the value by which a `STATE_KEY` is recognised. */
export const KEY_CHECK = 'state-key-check';

/** Says which key it is and nothing about it: 32 bytes. */
export const keyCheckOf = (stateKey: Uint8Array): Uint8Array =>
  createHmac('sha256', stateKey).update('paygrade state key check').digest();

/**
 * Every process of a database has the key of the first one: with another it could read no sealed request, and would refuse the
 * cursors of the others.
 * @throws StateError when this is another key
 */
export async function checkStateKey(database: Database, address: DatabaseAddress, stateKey: Uint8Array): Promise<void> {
  const own = keyCheckOf(stateKey);
  if (!timingSafeEqual(own, await keptSecret(database, KEY_CHECK, () => own))) throw otherKey(address);
}

export const otherKey = ({ shown }: DatabaseAddress): StateError =>
  new StateError(
    `STATE_KEY is not the key that the database ${shown} is used with; set the same one for every process (docs/state.md)`,
  );

/** @param fresh what is kept when there is none yet */
export async function keptSecret(database: Database, name: string, fresh: () => Uint8Array): Promise<Uint8Array> {
  const rows = await database.run({
    text: `WITH made AS (
             INSERT INTO paygrade.secrets (name, bytes) VALUES ($1, decode($2, 'hex')) ON CONFLICT DO NOTHING RETURNING bytes
           )
           SELECT bytes FROM made UNION ALL SELECT bytes FROM paygrade.secrets WHERE name = $1`,
    values: [name, Buffer.from(fresh()).toString('hex')],
  });
  const [row] = rows;
  // Another process made it between our snapshot and our insert: it is there now.
  return row === undefined ? keptSecret(database, name, fresh) : new Uint8Array(row.bytes as Uint8Array);
}
