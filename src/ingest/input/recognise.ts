/**
 * Which shape a file has, by its content alone. With `--format auto` shapes are tried in the order of the list, the
 * more specific ones first; the file has the first shape whose fields more than half of the first records have.
 */
import { objectOf, parseJson } from '../../base/json-value.ts';
import { printable } from '../../base/printable.ts';
import type { Records, Shape } from '../shapes/shape.ts';
import type { SourceRecord } from './source-field.ts';

/** Records that decide. A file of one shape shows it in its first few. */
export const SAMPLE_RECORDS = 50;

/** False for no records. */
function isMostly(shape: Shape, sample: readonly unknown[]): boolean {
  const records = sample.map(objectOf).filter((record): record is SourceRecord => record !== undefined);
  return records.filter((record) => shape.recognises(record)).length * 2 > sample.length;
}

/** The shape of separate records, or `undefined`. */
export function shapeOfRecords(sample: readonly unknown[], shapes: readonly Shape[]): Shape | undefined {
  return shapes.find((shape) => isMostly(shape, sample));
}

export type FoundRecords = Records & { readonly ok: true };

export interface Recognised {
  readonly shape: Shape;
  readonly found: FoundRecords;
}

/** Whether one of its keys holds a list of records: then it is no record, even if it has the fields of one. */
function isWrapper(document: SourceRecord, shapes: readonly Shape[]): boolean {
  return Object.values(document).some(
    (value) => Array.isArray(value) && shapeOfRecords(value.slice(0, SAMPLE_RECORDS), shapes) !== undefined,
  );
}

/** The records of a document of this shape, which may be a single record, such as one line of JSON Lines. */
export function recordsIn(document: unknown, shape: Shape): Records {
  const found = shape.recordsOf(document);
  const record = objectOf(document);
  if (found.ok || record === undefined || !shape.recognises(record) || isWrapper(record, [shape])) return found;
  return shape.recordsOf([record]);
}

/** The shape of a JSON document with its records, or `undefined`. */
export function shapeOfDocument(document: unknown, shapes: readonly Shape[]): Recognised | undefined {
  const wrapper = objectOf(document);
  for (const shape of shapes) {
    const found = shape.recordsOf(document);
    if (!found.ok) continue;
    if (found.records.length === 0 && wrapper && shape.claims?.(wrapper)) return { shape, found };
    if (isMostly(shape, found.records.slice(0, SAMPLE_RECORDS))) return { shape, found };
  }
  // Single records last, so that no list of one shape passes for a record of another.
  if (wrapper === undefined || isWrapper(wrapper, shapes)) return undefined;
  for (const shape of shapes) {
    if (shape.recordsOf(document).ok) continue;
    const found = recordsIn(document, shape);
    if (found.ok) return { shape, found };
  }
  return undefined;
}

/** Characters of a field's name in a message. */
const FIELD_LENGTH_MAX = 60;

/** The names of the fields, shortened, to show why no shape was recognised. */
function fieldsOf(sample: readonly unknown[]): string {
  const fields = Object.keys(objectOf(sample.find((item) => objectOf(item))) ?? {});
  if (fields.length === 0) return '';
  const shown = fields
    .slice(0, 12)
    .map((field) => printable(field, FIELD_LENGTH_MAX))
    .join(', ');
  return `; its fields are ${shown}${fields.length > 12 ? `, and ${fields.length - 12} more` : ''}`;
}

/** Why a file was not recognised, and the marks of the known shapes. Completes "this file …". */
export function unrecognised(sample: readonly unknown[], shapes: readonly Shape[]): string {
  const [only, ...others] = shapes;
  if (sample.length === 0)
    return `has no records${others.length === 0 ? '' : ', which tell the format: give it with --format'}`;
  if (only && others.length === 0)
    return `is not of format ${only.name}: no record has ${only.marks}${fieldsOf(sample)}`;
  const marks = shapes.map(({ name, marks }) => `  ${name}: ${marks}`).join('\n');
  return `has none of the known formats${fieldsOf(sample)}. A format is recognised by:\n${marks}`;
}

/**
 * The shape that the operator gave, if at least one of the first records has its fields: a file of another kind is
 * refused as a whole, not record by record.
 */
export function fitting(shape: Shape, sample: readonly unknown[]): Shape | undefined {
  const fits = sample.slice(0, SAMPLE_RECORDS).some((item) => {
    const record = objectOf(item);
    return record !== undefined && shape.recognises(record);
  });
  return fits ? shape : undefined;
}

/** As `fitting`, for a document, which may be an empty board. */
export function fittingDocument(shape: Shape, found: FoundRecords): Recognised | undefined {
  return found.records.length === 0 || fitting(shape, found.records) ? { shape, found } : undefined;
}

/** The first records of JSON Lines, without truncated or broken lines. */
export function objectsIn(head: string): unknown[] {
  const found: unknown[] = [];
  for (const line of head.split('\n')) {
    if (found.length === SAMPLE_RECORDS) break;
    if (line.trim() === '') continue;
    const record = parseJson(line);
    // The intake reports a line that is not JSON, with its number, when it reads it.
    if (record !== undefined) found.push(record);
  }
  return found;
}

/** The first records of a document of unknown shape, for the message that none was recognised. */
export function sampleOf(document: unknown): readonly unknown[] {
  return Array.isArray(document) ? document.slice(0, SAMPLE_RECORDS) : [document];
}
