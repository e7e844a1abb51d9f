/** Opens the listener of the runtime that runs this process; loads only that one. */
import type { Listener, ListenOptions } from './listen.ts';

/**
 * A computed address, so that the compiler does not follow the import: the Bun listener is checked in its own project. It ends
 * as this file does, `.ts` or, in the build, `.js`.
 */
const BUN_LISTENER = `./bun/listen-bun${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`;

/** @throws the runtime's error, with its code, when the address cannot be listened on */
export async function openListener(options: ListenOptions): Promise<Listener> {
  const { listen }: { listen(options: ListenOptions): Promise<Listener> } =
    'Bun' in globalThis ? await import(new URL(BUN_LISTENER, import.meta.url).href) : await import('./listen-node.ts');
  return listen(options);
}
