/** A record of a source as JSON, for the file of rejected records. */
import { sourceIdOf } from './shapes/job-id.ts';

/**
 * JSON of a parsed record. The runtime's writer fails on deep nesting that its parser accepts; such a record is only named.
 */
export function recordJson(record: unknown): string {
  try {
    return JSON.stringify(record, plainNumbers);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify({ id: sourceIdOf(record), omitted: 'nested too deeply to be written' });
  }
}

/** For JSON.stringify: Parquet has integers that JSON's writer refuses. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
