/**
 * paygrade as a library: one Fetch handler to mount in your own server (decisions §1).
 *
 *   const app = await createPaygrade({ snapshot: 'jobs.snapshot', stateDir: 'state', baseUrl: 'https://api.example.com' });
 *   Bun.serve({ fetch: (request) => app.fetch(request) });
 *
 * The rest loads at the first call: an older Node cannot link it, and the message would not name the cause.
 */
import type { Paygrade, PaygradeOptions } from './app/library.ts';
import { versionFault } from './base/runtime-version.ts';

export type { Paygrade, PaygradeOptions } from './app/library.ts';

const fault = versionFault(process.versions);
if (fault !== undefined) throw new Error(fault);

/** @throws Error one line that names the option and the reason, or the fault of the catalogue or the state */
export async function createPaygrade(options: PaygradeOptions = {}): Promise<Paygrade> {
  const { openLibrary } = await import('./app/library.ts');
  return openLibrary(options);
}
