/** Values that the first process creates and all others read (tables/secrets.ts). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { StateError } from '../state-error.ts';
import type { DatabaseAddress } from './address.ts';
import type { Query } from './transaction.ts';

/** Name of the throwaway recipient's address, 20 bytes. */
export const PAYEE = 'pay-to';
/** Name of the key of the books' digests. */
export const BOOKS_KEY = 'question';
/** Name of the value by which a `STATE_KEY` is recognised. */
export const KEY_CHECK = 'state-key-check';

/** Identifies the key without revealing it: 32 bytes. */
export const keyCheckOf = (stateKey: Uint8Array): Uint8Array =>
  createHmac('sha256', stateKey).update('paygrade state key check').digest();

/**
 * Every process of a database must have the first one's key: with another it could read no sealed request and would
 * refuse the others' cursors.
 * @throws StateError when this is another key
 */
export async function checkStateKey(query: Query, address: DatabaseAddress, stateKey: Uint8Array): Promise<void> {
  const own = keyCheckOf(stateKey);
  if (!timingSafeEqual(own, await keptSecret(query, KEY_CHECK, () => own))) throw otherKey(address);
}

export const otherKey = ({ shown }: DatabaseAddress): StateError =>
  new StateError(
    `STATE_KEY is not the key that the database ${shown} is used with; set the same one for every process (docs/state.md)`,
  );

/** @param fresh makes the value when none is stored yet */
export async function keptSecret(query: Query, name: string, fresh: () => Uint8Array): Promise<Uint8Array> {
  const rows = await query({
    text: `WITH made AS (
             INSERT INTO paygrade.secrets (name, bytes) VALUES ($1, decode($2, 'hex')) ON CONFLICT DO NOTHING RETURNING bytes
           )
           SELECT bytes FROM made UNION ALL SELECT bytes FROM paygrade.secrets WHERE name = $1`,
    values: [name, Buffer.from(fresh()).toString('hex')],
  });
  const [row] = rows;
  // Another process inserted it between our snapshot and our insert, so a second read finds it.
  return row === undefined ? keptSecret(query, name, fresh) : new Uint8Array(row.bytes as Uint8Array);
}
