/** Checks of the database of DATABASE_URL, which replaces the state folder. They write nothing. */
import { systemTimers } from '../../adapters/process/system-timers.ts';
import type { Config } from '../../app/configuration.ts';
import type { Clock } from '../../base/clock.ts';
import { inspectDatabase } from '../../storage/postgres/inspect.ts';
import { StateError } from '../../storage/state-error.ts';
import type { Findings } from './finding.ts';

export async function checkDatabase(
  findings: Findings,
  url: string,
  { stateKey, stateSync }: Config,
  clock: Clock,
): Promise<void> {
  const options = { sync: stateSync, stateKey: stateKey ?? undefined };
  try {
    const { shown, tables, serverCount } = await inspectDatabase(url, options, { clock, timers: systemTimers });
    if (tables === 'none') findings.ok(`the database ${shown} is empty: the first start makes its tables`);
    else if (tables === 'older')
      findings.ok(
        `the database ${shown} has the tables of an older release: the next start brings them up to this one`,
      );
    else findings.ok(`the database ${shown} can be used; servers on it: ${serverCount}`);
  } catch (failure) {
    if (!(failure instanceof StateError)) throw failure;
    findings.mend(failure.message, 'docs/state.md, "A database that processes share", says what a server needs');
  }
}
