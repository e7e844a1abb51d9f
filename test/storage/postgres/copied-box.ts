/** A state folder that becomes a shared database when it is opened again. */
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import { copyState } from '../../../src/storage/postgres/copy/copy-state.ts';
import { OPENING_ATOMIC } from '../../suites/backend.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { Folder } from '../sqlite/folder.ts';
import { SharedDatabase } from './opened-backend.ts';

export const options = (isPlay = true) => ({
  callbackBytes: 100 * CLAIM_BYTES,
  play: isPlay ? { openingAtomic: OPENING_ATOMIC } : undefined,
});

/** A box, and what it is after a kill and a copy. */
export async function box(time: ManualTime) {
  const folder = new Folder();
  const backend = await folder.openBackend(options(), time);
  const left: { remove(): Promise<void> }[] = [folder];
  let shared: SharedDatabase | undefined;
  return {
    backend,
    async reopen(isPlay = true) {
      if (shared === undefined) {
        const killed = folder.killed();
        shared = await SharedDatabase.open(SERVER!, time);
        left.push(killed, shared);
        await copyState(killed.path, shared.database.url, { clock: time, timers: time });
      } else await shared.killAll();
      return shared.process(options(isPlay));
    },
    /** A statement behind the backends of the copy. */
    async run(text: string) {
      await shared?.run(text);
    },
    async remove() {
      for (const one of left) await one.remove();
    },
  };
}
