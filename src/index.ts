/**
 * paygrade as a library: one Fetch handler to mount in a server of your own (decisions §1).
 *
 *   const app = await createPaygrade({ snapshot: 'jobs.snapshot', stateDir: 'state', baseUrl: 'https://api.example.com' });
 *   Bun.serve({ fetch: (request) => app.fetch(request) });
 */
import { openApp, type RequestRecord } from './app/app.ts';
import { systemClock } from './base/clock.ts';
import { systemRandom } from './base/random.ts';
import { configOf, originOf } from './config/config.ts';

type Setting = string | number | bigint | boolean | null | undefined;

/** The variables of the README in camel case, with the same defaults and rules; and where to tell what happens. */
export interface PaygradeOptions {
  readonly host?: Setting;
  readonly port?: Setting;
  readonly baseUrl?: Setting;
  readonly hookBaseUrl?: Setting;
  readonly snapshot?: Setting;
  readonly stateDir?: Setting;
  readonly stateSync?: Setting;
  readonly stateReset?: Setting;
  readonly payTo?: Setting;
  readonly settlement?: Setting;
  readonly facilitatorUrl?: Setting;
  readonly facilitatorToken?: Setting;
  readonly localBalance?: Setting;
  readonly signatures?: Setting;
  readonly workers?: Setting;
  readonly rateLimitPerMinute?: Setting;
  readonly trustProxy?: Setting;
  readonly callbackBytes?: Setting;
  readonly corsOrigin?: Setting;
  /** Taken as the contract has it; without a process of its own the library writes no log, see `onRequest`. */
  readonly logLevel?: Setting;
  /** Called once a request. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Called with a bug that became a 500; without it, bugs are written to the console. */
  readonly onFailure?: ((failure: unknown, requestId: string) => void) | undefined;
}

export interface Paygrade {
  /**
   * Never throws and never rejects.
   * @param client the caller's address, for the usage rate; without it all callers share one
   */
  fetch(request: Request, client?: { readonly address: string }): Promise<Response>;
  /** Takes the catalogue file anew. @throws Error one line; what was served before is served on */
  reload(): void;
  /** What the operator should be told. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** @throws Error one line, naming the option and the reason, or what is wrong with the catalogue or the state */
export async function createPaygrade(options: PaygradeOptions = {}): Promise<Paygrade> {
  const { onRequest, onFailure = (failure) => console.error(failure), ...settings } = options;
  const config = configOf({ ...settings });
  const address = originOf(config.host, config.port);
  const app = await openApp(
    { ...config, baseUrl: config.baseUrl ?? address, hookBaseUrl: config.hookBaseUrl ?? address },
    {
      clock: systemClock,
      random: systemRandom,
      copiesIntoResponse: 'Bun' in globalThis,
      onRequest,
      onFailure,
      onCaseReport: () => {},
    },
  );
  return {
    fetch: async (request, client) => app.fetch(request, client),
    reload: () => app.reload(),
    notices: app.notices,
    close: () => app.close(),
  };
}
