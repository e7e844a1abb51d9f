/**
 * Entry of the thread that loads a catalogue: it reads and checks the snapshot, builds the indexes, and hands all of it over
 * without a copy. Then it waits for the memory of the replaced catalogue and ends, which frees it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { checkSnapshot, Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { DamagedSnapshotError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../../catalogue/snapshot/source.ts';
import { buffersIn, type LoadedCatalogue, type LoadingMessage, type LoadingTask } from './catalogue-wire.ts';
import { descriptorSource } from './snapshot-file.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const post = (message: LoadingMessage): void => port.postMessage(message, buffersIn(message));

async function sourceOf(task: LoadingTask): Promise<{ source: SnapshotSource; bytes: Uint8Array | undefined }> {
  if (task.kind === 'file') {
    return { source: descriptorSource(task.path, task.descriptor, task.byteLength), bytes: undefined };
  }
  const { buildSample, sampleSource } = await import('../../ingest/synth/sample.ts');
  const bytes = buildSample(task.nowMs);
  return { source: sampleSource(bytes), bytes };
}

function loaded(source: SnapshotSource, bytes: Uint8Array | undefined): LoadedCatalogue {
  const checked = checkSnapshot(source);
  return { checked, indexes: new Catalogue(new Snapshot(source, checked)).warm(), bytes };
}

post({ kind: 'started' });
try {
  const { source, bytes } = await sourceOf(workerData as LoadingTask);
  const message: LoadingMessage = { kind: 'loaded', loaded: loaded(source, bytes) };
  port.once('message', () => port.close());
  post(message);
} catch (failure) {
  if (!(failure instanceof SnapshotError)) throw failure;
  post({ kind: 'refused', message: failure.message, isDamaged: failure instanceof DamagedSnapshotError });
}
