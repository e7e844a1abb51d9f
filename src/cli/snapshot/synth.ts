/**
 * `snapshot synth`: a synthetic catalogue from a seed, as a catalogue file or as JSONL. The same number of jobs, seed and
 * `--as-of` give the same bytes; the file therefore states `--as-of` as the time it was built.
 */
import { writeSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { openSpillFile } from '../../adapters/files/spill-file.ts';
import { DAY_MS } from '../../base/durations.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { type NativeRecord, parseNative } from '../../ingest/native.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import { synthRecords } from '../../ingest/synth/synth.ts';
import { command, commandErrorOf, EXIT_OK } from '../command.ts';
import { NewFile } from '../new-file.ts';
import { Progress } from '../progress.ts';
import { writeLines } from '../text-lines.ts';
import { timeOption } from '../time-option.ts';

const JOBS_MAX = 20_000_000;

function* lines(records: Iterable<NativeRecord>, onRow: () => void): Generator<string> {
  for (const record of records) {
    yield `${JSON.stringify(record)}\n`;
    onRow();
  }
}

/** @throws SnapshotError */
async function writeCatalogue(
  out: string,
  records: Iterable<NativeRecord>,
  asOfMs: number,
  onRow: () => void,
): Promise<{ readonly byteLength: number; readonly rowCount: number }> {
  const skills = loadSkillExtractor();
  const spill = openSpillFile(out);
  try {
    const builder = new SnapshotBuilder({ spill });
    for (const record of records) {
      const parsed = parseNative(record, skills);
      if (!parsed.ok) throw new Error(`a synthetic job is refused: ${parsed.field} ${parsed.reason}`);
      builder.add(parsed.job);
      onRow();
    }
    const { rowCount } = builder;
    const { byteLength, chunks } = builder.finish(() => ({
      builtAtMs: asOfMs,
      sourceRows: rowCount,
      rejectedRows: 0,
      skillsVersion: skills.version,
    }));
    await writeSnapshotFile(out, chunks);
    return { byteLength, rowCount };
  } finally {
    spill.close();
  }
}

export const snapshotSynth = command({
  options: {
    jobs: { type: 'integer', value: 'N', min: 0, max: JOBS_MAX, help: 'number of jobs', required: true },
    seed: {
      type: 'integer',
      value: 'S',
      min: 0,
      max: 0xffff_ffff,
      help: 'the same seed gives the same jobs',
      required: true,
    },
    'as-of': {
      type: 'text',
      value: 'TIME',
      help: 'time of the newest possible observation (default midnight UTC today)',
    },
    out: {
      type: 'text',
      value: 'FILE',
      help: 'catalogue file, or JSONL when the name ends in .jsonl (default JSONL on stdout)',
    },
  },
  async run({ options }, io) {
    const nowMs = io.clock.nowMs();
    const asOfMs = timeOption('as-of', options['as-of']) ?? nowMs - (nowMs % DAY_MS);
    const { out, jobs, seed } = options;
    const asJsonl = out === undefined || out.endsWith('.jsonl');

    const progress = new Progress(io.stderr, io.clock);
    let rows = 0;
    const onRow = () => {
      if (++rows % 512 === 0) progress.show({ rows, done: rows, total: jobs });
    };
    const records = synthRecords({ jobs, seed, asOfMs, descriptions: true });

    if (out === undefined) {
      await writeLines(lines(records, onRow), io.stdout);
      progress.clear();
      return EXIT_OK;
    }
    if (asJsonl) {
      const file = new NewFile(out);
      try {
        const encoder = new TextEncoder();
        for (const line of lines(records, onRow)) file.write(encoder.encode(line));
        file.commit();
      } finally {
        file.discard();
      }
      progress.clear();
      return EXIT_OK;
    }

    try {
      const { byteLength, rowCount } = await writeCatalogue(out, records, asOfMs, onRow);
      progress.say(`${out}: ${quantity(rowCount, 'job')}, ${grouped(byteLength)} bytes\n`);
    } catch (error) {
      progress.clear();
      throw commandErrorOf(error, SnapshotError);
    }
    return EXIT_OK;
  },
});
