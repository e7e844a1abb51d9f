/** The whole server without a listener: `openApp` in this process, with the defaults of a test. */
import { type App, type AppConfig, type AppPorts, openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { appPorts } from './app-ports.ts';
import { promptWorker } from './recovery.ts';
import { smallSample } from './small-sample.ts';
import { inProcess, type Transport } from './transport.ts';

/** The runtime that runs the tests of this file: those of `test/contract` run under both. */
export const RUNTIME = process.versions.bun === undefined ? 'node' : 'bun';

const ORIGIN = 'http://paygrade.test';

export interface OpenedApp extends Transport {
  readonly app: App;
  /** Bugs and resolutions that the app reported. */
  readonly failures: unknown[];
  /** Closes it as `serve` does. Throws the first failure that the app reported. */
  close(): Promise<void>;
}

/** What a test starts its server with: variables for processes, or config and ports for an app in this process. */
export type Wanted =
  | { readonly variables: Readonly<Record<string, string>> }
  | {
      readonly config: AppConfig;
      /** The ports of one app: each app gets new ones unless the test brings some. */
      readonly portsOf: () => AppPorts;
    };

export interface Opener {
  /** @param url the address to which the test sends requests */
  open(url: string, wanted: Wanted): Promise<Omit<OpenedApp, 'failures'>>;
}

/**
 * @param variables over a test's defaults: state in memory, no limits of rate, a small catalogue (`SNAPSHOT: ''`: the sample)
 * @param ports over the system's clock and randomness; signatures are verified in this thread, in the turn in which they arrive
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
  const resolved = { ...config, baseUrl, hookBaseUrl: config.hookBaseUrl ?? baseUrl };
  const portsOf = (): AppPorts =>
    appPorts({ recoveryWorker: promptWorker(), onFailure: (failure) => failures.push(failure), ...ports });
  // Names a module that opens a substitute for the app in this process (test/support/opened-fleet.ts).
  const opener = process.env.PAYGRADE_TEST_OPENER;
  if (opener !== undefined) {
    const { open } = (await import(opener)) as Opener;
    const limits = { RATE_LIMIT_PER_MINUTE: '0', CALLBACK_LIMIT_PER_MINUTE: '0' };
    const hasPorts = Object.keys(ports).length > 0;
    const environment = { ...limits, ...variables, BASE_URL: baseUrl };
    const opened = await open(ORIGIN, hasPorts ? { config: resolved, portsOf } : { variables: environment });
    return { ...opened, failures };
  }
  const app = await openApp(resolved, portsOf());
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
