/** Values that the first process makes and all others find (tables/secrets.ts). */
import type { Database } from './database.ts';

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
