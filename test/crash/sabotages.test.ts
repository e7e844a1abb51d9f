/** The changes of the crash harness still fit the program: each text occurs once in its file, so the change can be made. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SABOTAGES } from './sabotages.ts';
import { PLACES } from './steps.ts';

/** How often a text occurs in a file of src. */
const countOf = (file: string, text: string): number =>
  readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split(text).length - 1;

describe('the crash harness', () => {
  it.each(PLACES)('can stop at its place in %s: %j', (file, from) => {
    expect(countOf(file, from)).toBe(1);
  });
});

describe('the sabotages of the crash harness', () => {
  it.each(SABOTAGES.map((sabotage) => [sabotage.what, sabotage] as const))(
    'can break the promise: %s',
    (_, sabotage) => {
      for (const [file, from] of sabotage.changes) {
        expect(countOf(file, from), `occurrences of ${JSON.stringify(from)} in ${file}`).toBe(1);
      }
    },
  );
});
