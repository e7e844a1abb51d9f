/** The commands of `paygrade`. A new one is a file with a `Command` in it and a line here. */

import { callbackCommands } from './callback.ts';
import type { CommandGroup } from './command.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { history } from './history.ts';
import { importFeeds } from './import.ts';
import { load } from './load.ts';
import { serve } from './serve.ts';
import { snapshotCommands } from './snapshot.ts';

export const PROGRAM: CommandGroup = {
  kind: 'group',
  name: 'paygrade',
  summary: 'Sells answers about hiring, one request at a time, over your own catalogue of job postings',
  commands: [serve, importFeeds, history, snapshotCommands, callbackCommands, demo, load, doctor],
};
