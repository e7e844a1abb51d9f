/** What became of a query of the tables, as plain data that can cross threads. */
import { messageOf } from '../../base/failure.ts';
import { isBug, RequestRefusedError, StateRefusedError } from './refused.ts';

export type QueryResult =
  | { readonly kind: 'found'; readonly found: unknown }
  /** The file cannot be read now, or the record is damaged. */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /** The database would never answer the query: a bug of ours. */
  | { readonly kind: 'refused'; readonly detail: string };

/** Never throws. @param answer runs the query */
export function resultOf(answer: () => unknown): QueryResult {
  try {
    return { kind: 'found', found: answer() };
  } catch (failure) {
    return { kind: isBug(failure) ? 'refused' : 'unreadable', detail: messageOf(failure) };
  }
}

/** @throws StateRefusedError, RequestRefusedError */
export function foundIn(result: QueryResult): unknown {
  switch (result.kind) {
    case 'found':
      return result.found;
    case 'unreadable':
      throw new StateRefusedError(result.detail);
    case 'refused':
      throw new RequestRefusedError(`the state refused the query: ${result.detail}`);
    default:
      return result satisfies never;
  }
}
