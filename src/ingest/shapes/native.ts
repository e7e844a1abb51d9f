/**
 * The native format (decisions §3) as a shape: a record is a native record already, and native.ts checks it. Its lines are the
 * operator's own, so a bad one is not silently left out (intake.ts).
 */
import { objectOf } from '../../base/json-value.ts';
import { type NativeRecord, NOT_AN_OBJECT } from '../native.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { Shape } from './shape.ts';

export const nativeShape: Shape = {
  name: 'native',
  summary: 'one JSON object a line, as `snapshot export` writes it',
  perBoard: false,
  observedBy: 'source',
  marks: '"source_url" with "first_observed_at" and "last_observed_at"',
  recordsOf: (document) => listedUnder(document, [], 'native'),
  recognises: (record) =>
    hasAll(record, 'source_url', 'title') &&
    (record.first_observed_at !== undefined || record.last_observed_at !== undefined),
  nativeOf(record) {
    const fields = objectOf(record);
    return fields ? { ok: true, record: fields as unknown as NativeRecord, board: 'native' } : NOT_AN_OBJECT;
  },
};
