/**
 * Worker options that keep a thread from printing warnings: Node 22 warns once a thread that node:sqlite and type stripping
 * are experimental. Deno prints no such warning and refuses a worker with flags that it does not know.
 */
export const QUIET_THREAD: { readonly execArgv?: string[] } =
  'Deno' in globalThis ? {} : { execArgv: ['--disable-warning=ExperimentalWarning'] };
