/**
 * paygrade as a library: one Fetch handler to mount in your own server (decisions §1).
 *
 *   const app = await createPaygrade({ snapshot: 'jobs.snapshot', stateDir: 'state', baseUrl: 'https://api.example.com' });
 *   Bun.serve({ fetch: (request) => app.fetch(request) });
 */
import { processMemory } from './adapters/process/process-memory.ts';
import { RUNTIME_BODIES } from './adapters/process/runtime-bodies.ts';
import { openApp } from './app/app.ts';
import { CONFIGURATION, type ConfigOptions } from './app/configuration.ts';
import type { RequestRecord } from './app/request-record.ts';
import { systemClock } from './base/clock.ts';
import { systemRandom } from './base/random.ts';
import { originOf } from './config/settings.ts';

/** The variables of `docs/configuration.md` in camel case, with the same defaults and rules, and two listeners. */
export interface PaygradeOptions extends ConfigOptions {
  /** Called once for each answered request. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Called with a bug that became a 500; the default writes it to the console. */
  readonly onFailure?: ((failure: unknown, requestId: string) => void) | undefined;
}

export interface Paygrade {
  /**
   * Never throws and never rejects.
   * @param client the client's address, for the rate limit; requests without it share one limit
   */
  fetch(request: Request, client?: { readonly address: string }): Promise<Response>;
  /**
   * Reads the catalogue file again, in a thread where the runtime has them. A call during a reload starts another after it.
   * Rejects with an Error of one line; the previous catalogue stays in service.
   */
  reload(): Promise<void>;
  /** Notices for the operator, one line each. */
  readonly notices: readonly string[];
  /**
   * With `settlement: 'local'` and a state without any organization: the key of the organization `demo`, which this start has
   * made, given only now. Keep it out of logs.
   */
  readonly demoKey: string | undefined;
  close(): Promise<void>;
}

/** @throws Error one line that names the option and the reason, or the fault of the catalogue or the state */
export async function createPaygrade(options: PaygradeOptions = {}): Promise<Paygrade> {
  const { onRequest, onFailure = (failure) => console.error(failure), ...settings } = options;
  const config = CONFIGURATION.fromOptions(settings);
  const address = originOf(config.host, config.port);
  const app = await openApp(
    { ...config, baseUrl: config.baseUrl ?? address, hookBaseUrl: config.hookBaseUrl ?? address },
    {
      clock: systemClock,
      random: systemRandom,
      memory: processMemory(),
      ...RUNTIME_BODIES,
      startsAtOnce: true, // its notices are awaited below
      onRequest,
      onFailure,
      onCaseReport: () => {},
    },
  );
  return {
    fetch: async (request, client) => app.fetch(request, client),
    reload: () => app.reload(),
    notices: [...app.notices, ...(await app.laterNotices)],
    demoKey: app.demoKey,
    close: () => app.close(),
  };
}
