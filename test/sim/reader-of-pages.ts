/** Reads documents in virtual time: what they say is of no account here, only when it is said. */
import { createHash } from 'node:crypto';
import { nothingOf } from '../../src/resolve/result.ts';
import type { Extractor } from '../../src/resolve/work.ts';
import type { Chance } from '../support/chance.ts';
import type { Life } from './server.ts';
import type { World } from './world.ts';

export const virtualExtractor = (world: World, chance: Chance, life: Life): Extractor => ({
  extract: ({ body }) =>
    new Promise((resolve) => {
      const sha256 = createHash('sha256').update(body).digest('hex');
      world.after(chance.between(0, 50), () => !life.isDead && resolve({ content: nothingOf([]), sha256 }));
    }),
});
