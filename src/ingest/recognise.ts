/**
 * `--format auto`: which shape a file has, told by its content alone. Shapes are asked in the order of the list, the more
 * particular ones first; one is taken when more than half of the first records have its fields.
 */
import type { Records, Shape } from './shape.ts';
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

/** The shape of a JSON document with its records, or `undefined`. */
export function shapeOfDocument(document: unknown, shapes: readonly Shape[]): Recognised | undefined {
  const wrapper = objectOf(document);
  for (const shape of shapes) {
    const found = shape.recordsOf(document);
    if (!found.ok) continue;
    if (found.records.length === 0 && wrapper && shape.claims?.(wrapper)) return { shape, found };
    if (found.records.length > 0 && isMostly(shape, found.records.slice(0, SAMPLE_RECORDS))) return { shape, found };
  }
  // A list of one, as JSON Lines write it, or one posting as some boards give it.
  const shape = wrapper && shapeOfRecords([wrapper], shapes);
  return shape && { shape, found: { ok: true, records: [wrapper] } };
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
