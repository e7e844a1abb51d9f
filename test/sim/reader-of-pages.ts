/** Reads documents in virtual time: what they say is of no account here, only when it is said. */
import { hash } from 'node:crypto';
import { nothingOf } from '../../src/resolve/result.ts';
import type { Extractor } from '../../src/resolve/work.ts';
import type { Chance } from '../support/chance.ts';
import type { Life } from './server.ts';
import type { World } from './world.ts';

export const virtualExtractor = (world: World, chance: Chance, life: Pick<Life, 'isDead'>): Extractor => ({
  extract: ({ body }) =>
    new Promise((resolve) => {
      const measured = { sha256: hash('sha256', body), sizeBytes: body.length };
      const read = { kind: 'read', content: nothingOf([]), ...measured } as const;
      world.after(chance.between(0, 50), () => !life.isDead && resolve(read));
    }),
});
