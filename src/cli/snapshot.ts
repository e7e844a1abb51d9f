/** `paygrade snapshot ...`: catalogue files, made, looked at and written back. */
import type { CommandGroup } from './command.ts';
import { snapshotBuild } from './snapshot-build.ts';
import { snapshotExport } from './snapshot-export.ts';
import { snapshotInspect } from './snapshot-inspect.ts';
import { snapshotSynth } from './snapshot-synth.ts';

export const snapshotCommands: CommandGroup = {
  kind: 'group',
  name: 'snapshot',
  summary: 'Makes, shows and writes back catalogue files',
  commands: [snapshotBuild, snapshotInspect, snapshotExport, snapshotSynth],
};
