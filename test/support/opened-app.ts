/** The whole server without a listener: `openApp` in this process, with the defaults of a test. */
import { type App, type AppPorts, openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { promptWorker } from './recovery.ts';
import { smallSample } from './small-sample.ts';
import { inProcess, type Transport } from './transport.ts';

/** The runtime that runs the tests of this file: those of `test/contract` run under both. */
export const RUNTIME = process.versions.bun === undefined ? 'node' : 'bun';

const ORIGIN = 'http://paygrade.test';

export interface OpenedApp extends Transport {
  readonly app: App;
  /** Bugs and resolutions that the app reported. */
  readonly failures: readonly unknown[];
  /** Ends it as `serve` does. Throws the first failure that the app reported. */
  close(): Promise<void>;
}

/**
 * @param variables over a test's defaults: state in memory, no limits of rate, a small catalogue (`SNAPSHOT: ''`: the sample)
 * @param ports over the system's clock and randomness; signatures are verified in this thread, in the turn in which they come
 */
export async function openedApp(
  variables: Readonly<Record<string, string>> = {},
  ports: Partial<AppPorts> = {},
): Promise<OpenedApp> {
  const { SNAPSHOT = smallSample(), ...others } = variables;
  const config = CONFIGURATION.read({
    STATE_DIR: ':memory:',
    RATE_LIMIT_PER_MINUTE: '0',
    CALLBACK_LIMIT_PER_MINUTE: '0',
    ...(SNAPSHOT === '' ? {} : { SNAPSHOT }),
    ...others,
  });
  const failures: unknown[] = [];
  const baseUrl = config.baseUrl ?? ORIGIN;
  const app = await openApp(
    { ...config, baseUrl, hookBaseUrl: config.hookBaseUrl ?? baseUrl },
    {
      clock: systemClock,
      random: systemRandom,
      recoveryWorker: promptWorker(),
      copiesIntoResponse: RUNTIME === 'bun',
      onRequest: undefined,
      onFailure: (failure) => failures.push(failure),
      onCaseReport: () => {},
      ...ports,
    },
  );
  return {
    ...inProcess(app, ORIGIN),
    app,
    failures,
    async close() {
      app.drain();
      await app.close();
      if (failures.length > 0) throw failures[0];
    },
  };
}
