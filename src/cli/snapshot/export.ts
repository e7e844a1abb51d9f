/** `snapshot export`: a catalogue file as native JSONL on stdout. `snapshot build` reads it back unchanged. */
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { exportLines } from '../../ingest/export-jobs.ts';
import { command, commandErrorOf, EXIT_OK } from '../command.ts';
import { writeLines } from '../text-lines.ts';
import { openCatalogue } from './inspect.ts';

export const snapshotExport = command({
  arguments: [{ name: 'FILE', help: 'catalogue file', count: 'one' }],
  options: {},
  notes: [
    'Building from an export gives the same file, byte for byte, unless the file was built with --catalogue: its recorded events are not exported, and the new file has the history that follows from the jobs.',
  ],
  async run({ arguments: [path] }, { stdout }) {
    const snapshot = openCatalogue(path);
    try {
      await writeLines(exportLines(snapshot), stdout);
    } catch (error) {
      throw commandErrorOf(error, SnapshotError);
    } finally {
      snapshot.close();
    }
    return EXIT_OK;
  },
});
