/**
 * The contract suite (`test/contract`) under Bun: its files run once in a Bun process, and each of their tests is reported here
 * as its own. Under Node all of them are part of the unit project.
 */
import { describe, expect, it } from 'vitest';
import { CONTRACT_FILES, contractReport } from '../support/contract-report.ts';
import { IS_WHOLE } from '../support/whole.ts';

/**
 * Where the runtime has a say: bodies as they come and are cut short, headers, URLs, waits, threads, what is written back.
 * What is left decides about values that were read already, which comes to the same under each: CI and `npm run test:slow` run the
 * whole suite.
 */
const OF_THE_RUNTIME = [
  'bad-input',
  'callback-reading',
  'cors',
  'discovery',
  'retry',
  'routing',
  'webhook-senders',
  'webhooks',
];

/** Tests are known by their titles before any of them is run here, so the Bun process runs while this file is read. */
const files = await contractReport(
  'bun',
  CONTRACT_FILES.filter((name) => IS_WHOLE || OF_THE_RUNTIME.includes(name)),
);

it('the contract suite has run in bun', () => {
  expect(files.length).toBeGreaterThan(5);
  for (const { name, message, assertionResults } of files) {
    expect({ name, message, isEmpty: assertionResults.length === 0 }).toEqual({ name, message: '', isEmpty: false });
    for (const { ancestorTitles } of assertionResults) expect(ancestorTitles[0]).toMatch(/\bbun$/);
  }
});

for (const { assertionResults } of files) {
  for (const { ancestorTitles, title, status, failureMessages } of assertionResults) {
    describe(ancestorTitles.join(' > '), () => {
      it(title, () => {
        if (status !== 'passed') throw new Error([`${status} under bun`, ...failureMessages].join('\n'));
      });
    });
  }
}
