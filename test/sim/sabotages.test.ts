/** The sabotages of the slow tests still fit the program: each text occurs once in its file, so the change can be made. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './sabotages.ts';
import { SHARED_SABOTAGES } from './shared/sabotages.ts';

describe('the sabotages of the simulators', () => {
  it.each([...SABOTAGES, ...SHARED_SABOTAGES].map((sabotage) => [sabotage.what, sabotage] as const))(
    'can be made: %s',
    (_, { changes }) => {
      for (const [file, from] of changes) {
        const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
        expect(text.split(from).length - 1, `occurrences of ${JSON.stringify(from)} in ${file}`).toBe(1);
      }
    },
  );
});
