/** `snapshot inspect`: the contents and origin of a catalogue file. */
import { openSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { grouped } from '../../base/grouped.ts';
import { isoTime, isoTimeOrNull } from '../../base/iso-time.ts';
import { reachOf } from '../../catalogue/questions/reach.ts';
import { openSnapshot, type Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { leftOutJson } from '../../ingest/export-facts.ts';
import { command, commandErrorOf, EXIT_OK } from '../command.ts';
import { reachLines, reachReportOf } from './reach-lines.ts';

/** @throws CommandError one line: why the file is refused */
export function openCatalogue(path: string): Snapshot {
  try {
    return openSnapshot(openSnapshotFile(path));
  } catch (error) {
    throw commandErrorOf(error, SnapshotError);
  }
}

/** The earliest first observation of any job; null when there is no job. */
function firstObservedMs({ rowCount, firstObserved }: Snapshot): number | null {
  return rowCount === 0 ? null : firstObserved.reduce((earliest, timeMs) => Math.min(earliest, timeMs));
}

/** Text for people of a value that is no whole number. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? 'none');
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')} ${inner ?? 'any'}`)
    .join(', ');
}

export const snapshotInspect = command({
  arguments: [{ name: 'FILE', help: 'catalogue file', count: 'one' }],
  options: { json: { type: 'flag', help: 'one JSON object' } },
  async run({ options, arguments: [path] }, { stdout, stderr }) {
    const snapshot = openCatalogue(path);
    const { rowCount, facts } = snapshot;
    const reach = reachOf(snapshot);
    const shown = {
      rows: rowCount,
      active: snapshot.activeCount,
      companies: snapshot.companyCount,
      aliases: snapshot.aliases.size,
      first_observed_at: isoTimeOrNull(firstObservedMs(snapshot)),
      last_observed_at: isoTimeOrNull(snapshot.newestObservedMs),
      oldest_last_observed_at: isoTimeOrNull(snapshot.oldestObservedMs),
      built_at: isoTime(facts.builtAtMs),
      source_rows: facts.sourceRows,
      rejected_rows: facts.rejectedRows,
      skills_version: facts.skillsVersion,
      left_out: facts.leftOut === undefined ? null : leftOutJson(facts.leftOut),
      events: snapshot.history.count,
      description_bytes: snapshot.descriptions.byteLength,
      history_bytes: snapshot.history.byteLength,
      content: snapshot.contentDigest,
      bytes: snapshot.byteLength,
      bytes_per_job: rowCount === 0 ? null : Math.round((snapshot.byteLength / rowCount) * 10) / 10,
    };
    snapshot.close();
    if (options.json) {
      stdout.write(`${JSON.stringify({ ...shown, reach: reachReportOf(reach) })}\n`);
      return EXIT_OK;
    }
    for (const [name, value] of Object.entries(shown)) {
      const text = typeof value === 'number' && Number.isInteger(value) ? grouped(value) : textOf(value);
      stderr.write(`${name.replaceAll('_', ' ').padEnd(25)}${text}\n`);
    }
    stderr.write(reachLines(reach));
    return EXIT_OK;
  },
});
