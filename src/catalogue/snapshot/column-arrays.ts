/** How the builder of a snapshot grows, reorders and writes typed arrays. */
import { ELEMENT_BYTES, type ElementType } from './layout.ts';

export type Column =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

function emptyLike<C extends Column>(column: C, length: number): C {
  return new (column.constructor as new (length: number) => C)(length);
}

/**
 * The column at twice its length. The old one becomes unusable: its memory is freed at once, not at the next
 * collection.
 */
export function grown<C extends Column>(column: C): C {
  return new (column.constructor as new (buffer: ArrayBuffer) => C)(column.buffer.transfer(column.byteLength * 2));
}

/** The elements in the order of `order`. */
export function gathered<C extends Column>(column: C, order: Uint32Array): C {
  const rows = emptyLike(column, order.length);
  for (let row = 0; row < order.length; row++) rows[row] = column[order[row]!]!;
  return rows;
}

/** The inverse of an order of 0 .. length - 1: the place of each number in it. */
export function inverseOf(order: Uint32Array): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) places[order[place]!] = place;
  return places;
}

/** Codes below `codeCount` in 16 bits when they fit. */
export function narrowed(
  codes: Uint32Array<ArrayBuffer>,
  codeCount: number,
): Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> {
  return codeCount <= 0x10000 ? Uint16Array.from(codes) : codes;
}

export function bytesOf(column: Column): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** The one of `types` that has elements of the column's size. */
export function typeOf(column: Column, types: readonly ElementType[]): ElementType {
  return types.find((type) => ELEMENT_BYTES[type] === column.BYTES_PER_ELEMENT)!;
}
