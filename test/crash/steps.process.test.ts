/** The steps of the crash harness still fit the program: each place occurs once in its file, and each step is at a place. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PLACES, STEPS } from './steps.ts';

describe('the steps of the crash harness', () => {
  it.each(PLACES.map(([file, from]) => [file, from] as const))('have their place in %s', (file, from) => {
    const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    expect(text.split(from).length - 1, `occurrences of ${JSON.stringify(from)} in ${file}`).toBe(1);
  });

  it.each(STEPS)('%s is at one place', (step) => {
    expect(PLACES.filter(([, , to]) => to.includes(`'${step}'`))).toHaveLength(1);
  });
});
