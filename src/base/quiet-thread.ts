/**
 * Options for a thread that says nothing on stderr: Node 22 calls node:sqlite and type stripping experimental, once for each
 * thread. Deno has no such word, and refuses a thread with flags that it does not know.
 */
export const QUIET_THREAD: { readonly execArgv?: string[] } =
  'Deno' in globalThis ? {} : { execArgv: ['--disable-warning=ExperimentalWarning'] };
