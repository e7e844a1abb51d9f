/** The app as a library: the handler that `createPaygrade` gives (decisions §1), without a socket. */
import { processMemory } from '../adapters/process/process-memory.ts';
import { RUNTIME_BODIES } from '../adapters/process/runtime-bodies.ts';
import { systemTimers } from '../adapters/process/system-timers.ts';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { ConfigError } from '../config/config.ts';
import { openApp } from './app.ts';
import { CONFIGURATION, type ConfigOptions, publicAddressesOf } from './configuration.ts';
import type { RequestRecord } from './request-record.ts';

/** The variables of `docs/configuration.md` in camel case, with the same defaults and rules, and two listeners. */
export interface PaygradeOptions extends ConfigOptions {
  /** Called once for each answered request. */
  readonly onRequest?: ((record: RequestRecord) => void) | null | undefined;
  /** Called with a bug that became a 500; the default writes it to the console. */
  readonly onFailure?: ((failure: unknown, requestId: string) => void) | null | undefined;
}

export interface Paygrade {
  /**
   * Answers every request, even after a bug of the server. Rejects with a TypeError for a value that is not a Request, and for
   * a Request whose body has been read.
   * @param client the client's address, for the rate limit; requests without it share one limit
   */
  fetch(request: Request, client?: { readonly address: string | undefined }): Promise<Response>;
  /**
   * Reads the catalogue file again, in a thread where the runtime has them. A call during a reload starts another after it.
   * Rejects with an Error of one line; the previous catalogue stays in service.
   */
  reload(): Promise<void>;
  /** Notices for the operator, one line each. */
  readonly notices: readonly string[];
  /**
   * With `settlement: 'local'` and a state without any organization: the key of the organization `demo`, which this start
   * created. It is shown only now; keep it out of logs.
   */
  readonly demoKey: string | undefined;
  close(): Promise<void>;
}

function listenerOf<T>(name: string, listener: T | null | undefined): T | undefined {
  if (listener === null || listener === undefined) return undefined;
  if (typeof listener !== 'function') throw new ConfigError(`${name} must be a function`);
  return listener;
}

/** @throws TypeError one line, because the mistake is the embedding server's, not the HTTP client's */
function checkRequest(request: Request): void {
  // An IncomingMessage of node:http, which Express passes on, has `url` and `headers` too, but its headers are a plain object.
  if (typeof request?.headers?.get !== 'function') throw new TypeError('app.fetch takes a Request');
  if (request.bodyUsed) {
    throw new TypeError(
      'the body of this request has been read already; give app.fetch the request unread, or a clone',
    );
  }
}

/**
 * The client that the embedding server passes. Servers call a bare `app.fetch` with other second arguments (Bun its server,
 * Hono its bindings), which are not clients.
 */
const clientOf = (given: { readonly address: unknown } | null | undefined): { readonly address: string } | undefined =>
  typeof given?.address === 'string' ? { address: given.address } : undefined;

/** An app's own timers do not keep an otherwise idle process alive; this does, while an app opens or closes. */
async function awake<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 2 ** 30);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** @throws Error one line that names the option and the reason, or the fault of the catalogue or the state */
export async function openLibrary(options: PaygradeOptions): Promise<Paygrade> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new ConfigError('createPaygrade takes its options as one object');
  }
  const { onRequest, onFailure, ...settings } = options;
  const failed = listenerOf('onFailure', onFailure) ?? ((failure: unknown) => console.error(failure));
  const config = CONFIGURATION.fromOptions(settings);
  const opening = openApp(
    { ...config, ...publicAddressesOf(config, config.port) },
    {
      clock: systemClock,
      random: systemRandom,
      timers: systemTimers,
      memory: processMemory(),
      ...RUNTIME_BODIES,
      startsAtOnce: true, // its notices are awaited below
      onRequest: listenerOf('onRequest', onRequest),
      onFailure: failed,
      onStateNotice: (notice) => failed(new Error(notice), 'state'),
      onCaseReport: () => {},
    },
  );
  const app = await awake(opening);
  return {
    async fetch(request, client) {
      checkRequest(request);
      return app.fetch(request, clientOf(client));
    },
    reload: () => app.reload(),
    notices: [...app.notices, ...(await app.laterNotices)],
    demoKey: app.demoKey,
    close: () => awake(app.close()),
  };
}
