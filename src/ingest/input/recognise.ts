/**
 * `--format auto`: which shape a file has, told by its content alone. Shapes are asked in the order of the list, the more
 * particular ones first; one is taken when more than half of the first records have its fields.
 */
import type { Records, Shape } from '../shapes/shape.ts';
import { objectOf, type SourceRecord } from './source-field.ts';

/** Records looked at. A file of one shape shows it in its first few. */
export const SAMPLE_RECORDS = 50;

function isMostly(shape: Shape, sample: readonly unknown[]): boolean {
  const records = sample.map(objectOf).filter((record): record is SourceRecord => record !== undefined);
  return records.filter((record) => shape.recognises(record)).length * 2 > sample.length;
}

/** The shape of separate records, or `undefined`. */
export function shapeOfRecords(sample: readonly unknown[], shapes: readonly Shape[]): Shape | undefined {
  return sample.length === 0 ? undefined : shapes.find((shape) => isMostly(shape, sample));
}

export interface Recognised {
  readonly shape: Shape;
  readonly found: Records & { readonly ok: true };
}

/** Whether it holds records of its own, under whatever name: it is then no record, however much it looks like one. */
function isWrapper(document: SourceRecord, shapes: readonly Shape[]): boolean {
  return Object.values(document).some(
    (value) => Array.isArray(value) && shapeOfRecords(value.slice(0, SAMPLE_RECORDS), shapes) !== undefined,
  );
}

/** The records of a document of this shape, which may be a single record itself, as JSON Lines of one line are. */
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
    if (found.records.length > 0 && isMostly(shape, found.records.slice(0, SAMPLE_RECORDS))) return { shape, found };
  }
  // Last, so that no list of one shape passes for a record of another.
  if (wrapper === undefined || isWrapper(wrapper, shapes)) return undefined;
  for (const shape of shapes) {
    if (shape.recordsOf(document).ok) continue;
    const found = recordsIn(document, shape);
    if (found.ok) return { shape, found };
  }
  return undefined;
}

/** The names that are there, shortened, so that a reader sees why nothing was recognised. */
function fieldsOf(sample: readonly unknown[]): string {
  const fields = Object.keys(objectOf(sample.find((item) => objectOf(item))) ?? {});
  if (fields.length === 0) return '';
  const shown = fields.slice(0, 12).join(', ');
  return `; its fields are ${shown}${fields.length > 12 ? `, and ${fields.length - 12} more` : ''}`;
}

/** Why a file was not recognised and what was looked for. Completes "this file …". */
export function unrecognised(sample: readonly unknown[], shapes: readonly Shape[]): string {
  const [only, ...others] = shapes;
  if (only && others.length === 0)
    return `is not of format ${only.name}: no record has ${only.marks}${fieldsOf(sample)}`;
  const wanted = shapes.map(({ name, marks }) => `  ${name}: ${marks}`).join('\n');
  return `is of no format that is known${fieldsOf(sample)}. Looked for:\n${wanted}`;
}
