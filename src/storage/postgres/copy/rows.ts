/** The rows that a copy inserts into one table, in statements of bounded size. */
import type { Query } from '../transaction.ts';

/** Column and type; values of `bytea` are given as bytes. */
export type Columns = readonly (readonly [
  name: string,
  type: 'text' | 'bigint' | 'integer' | 'boolean' | 'numeric' | 'bytea',
])[];

export interface CopiedTable {
  /** In the schema `paygrade`. */
  readonly name: string;
  readonly columns: Columns;
  /** True: the table numbers its rows itself; these rows bring their own numbers. */
  readonly hasIdentity?: boolean;
  readonly rows: Iterable<readonly unknown[]>;
}

const ROW_COUNT_MAX = 1000;
/** Length of a statement's values as text; a single row may exceed it. */
const TEXT_LENGTH_MAX = 8_000_000;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');

function insertText({ name, columns, hasIdentity = false }: CopiedTable): string {
  const names = columns.map(([column]) => column).join(', ');
  const values = columns.map(([column, type]) => (type === 'bytea' ? `decode(r.${column}, 'hex')` : `r.${column}`));
  const lists = columns.map(([, type], place) => `$${place + 1}::${type === 'bytea' ? 'text' : type}[]`);
  return `INSERT INTO paygrade.${name} (${names}) ${hasIdentity ? 'OVERRIDING SYSTEM VALUE' : ''}
    SELECT ${values.join(', ')} FROM unnest(${lists.join(', ')}) AS r (${names})`;
}

/** Inserts the rows of a table. @returns how many */
export async function insertAll(query: Query, table: CopiedTable): Promise<number> {
  const text = insertText(table);
  let lists: unknown[][] = table.columns.map(() => []);
  let length = 0;
  let count = 0;
  const flush = async (): Promise<void> => {
    if ((lists[0]?.length ?? 0) === 0) return;
    await query({ text, values: lists });
    lists = table.columns.map(() => []);
    length = 0;
  };
  for (const row of table.rows) {
    for (const [place, value] of row.entries()) {
      const sent = value instanceof Uint8Array ? hexOf(value) : value;
      if (typeof sent === 'string') length += sent.length;
      lists[place]?.push(sent);
    }
    count++;
    if ((lists[0]?.length ?? 0) >= ROW_COUNT_MAX || length >= TEXT_LENGTH_MAX) await flush();
  }
  await flush();
  return count;
}
