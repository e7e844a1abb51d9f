/** Records of any real file, read and recognised as `--format auto` does it. */
import { openInputs } from '../../src/ingest/input/input.ts';
import { shapeOfDocument, shapeOfRecords } from '../../src/ingest/input/recognise.ts';
import { contentOf } from '../../src/ingest/input/source-content.ts';
import { type Envelope, NO_ENVELOPE, type Shape } from '../../src/ingest/shapes/shape.ts';
import { SHAPES } from '../../src/ingest/shapes/shapes.ts';
import { realFile } from './real-data.ts';

export interface RealFile {
  readonly shape: Shape;
  readonly fileName: string | null;
  readonly envelope: Envelope;
  readonly records: readonly unknown[];
}

const readFiles = new Map<string, Promise<RealFile>>();

/** A file that is no archive; read once. */
export function realShape(file: string): Promise<RealFile> {
  const earlier = readFiles.get(file);
  if (earlier) return earlier;
  const read = readShape(file);
  readFiles.set(file, read);
  return read;
}

async function readShape(file: string): Promise<RealFile> {
  const inputs = await openInputs([realFile(file)], new Map());
  for await (const member of inputs.files[0]!.members()) {
    const content = await contentOf(member);
    const { fileName } = member;
    if (content.kind === 'document' || content.kind === 'page') {
      const known = shapeOfDocument(content.document, SHAPES);
      if (known === undefined) throw new Error(`${file} is not recognised`);
      const envelope = known.found.envelope ?? NO_ENVELOPE;
      const url = content.kind === 'page' ? content.url : envelope.url;
      return { shape: known.shape, fileName, envelope: { ...envelope, url }, records: known.found.records };
    }
    const records: unknown[] = [];
    if (content.kind === 'table') for await (const row of content.rows) records.push(row);
    if (content.kind === 'lines') {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content.bytes) chunks.push(chunk.slice());
      const lines = Buffer.concat(chunks).toString().split('\n');
      records.push(...lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as unknown));
    }
    const shape = shapeOfRecords(records.slice(0, 50), SHAPES);
    if (shape === undefined) throw new Error(`${file} is not recognised`);
    return { shape, fileName, envelope: NO_ENVELOPE, records };
  }
  throw new Error(`${file} is empty`);
}
