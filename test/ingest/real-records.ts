/** Records of one real document, read the way the command reads it. */
import { text } from 'node:stream/consumers';
import { openInputs } from '../../src/ingest/input/input.ts';
import type { Shape } from '../../src/ingest/shapes/shape.ts';
import { realFile } from './real-data.ts';

/** `member` is the file's name inside an archive, null for a file that is no archive. */
export async function realRecords(
  file: string,
  member: string | null,
  shape: Shape,
): Promise<{ fileName: string | null; records: readonly unknown[] }> {
  const inputs = await openInputs([realFile(file)], new Map());
  for await (const { fileName, bytes } of inputs.files[0]!.members()) {
    const document = await text(bytes);
    if (member !== null && fileName !== member) continue;
    const found = shape.recordsOf(JSON.parse(document));
    if (!found.ok) throw new Error(found.reason);
    return { fileName, records: found.records };
  }
  throw new Error(`${file} has no ${member}`);
}
