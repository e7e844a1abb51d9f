/**
 * A batch as it crosses to the writer's thread: one list, in which an operation that its table packs is the table's name, a
 * count and as many primitives; any other is itself. To clone a payment's two records as objects, member by member, is a fifth
 * (Bun) and an eighth (Node) of what durability costs a payment; a list of primitives costs less than half of that.
 */
import type { Operation, Primitive } from './tables/table.ts';
import { tableNamed, tableOf } from './tables/tables.ts';

export type PackedBatch = (Primitive | Operation)[];

export function packBatch(operations: readonly Operation[]): PackedBatch {
  const batch: PackedBatch = [];
  for (const operation of operations) {
    const packed = tableOf(operation).pack?.(operation);
    if (packed === undefined) batch.push(operation);
    else batch.push(operation.table, packed.length, ...packed);
  }
  return batch;
}

export function unpackBatch(batch: Readonly<PackedBatch>): Operation[] {
  const operations: Operation[] = [];
  for (let at = 0; at < batch.length; ) {
    const head = batch[at++] as string | Operation;
    if (typeof head === 'object') {
      operations.push(head);
      continue;
    }
    const end = at + 1 + (batch[at] as number);
    operations.push(tableNamed(head).unpack!(batch.slice(at + 1, end) as Primitive[]));
    at = end;
  }
  return operations;
}
