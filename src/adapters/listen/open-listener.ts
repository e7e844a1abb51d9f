/** Opens the listener of the runtime that runs this process; loads only that one. */
import type { MadeResponse } from '../../http/response-form.ts';
import type { Listener, ListenOptions } from './listen.ts';

/** A URL, so that the compiler does not follow the import: the Bun listener is type-checked in a separate project. */
const BUN_LISTENER = new URL('./bun/listen-bun.ts', import.meta.url);

/**
 * @param options with responses in the form of `LISTENER_BODIES` (runtime-bodies.ts)
 * @throws the runtime's error, with its code, when the address cannot be listened on
 */
export async function openListener(options: ListenOptions<MadeResponse>): Promise<Listener> {
  const { listen }: { listen(options: ListenOptions<MadeResponse>): Promise<Listener> } =
    'Bun' in globalThis ? await import(BUN_LISTENER.href) : await import('./listen-node.ts');
  return listen(options);
}
