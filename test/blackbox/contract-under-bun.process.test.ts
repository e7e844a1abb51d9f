/**
 * The contract suite (`test/contract`) under Bun: most of its files run once in a Bun process, and each of their tests is
 * reported here as its own. Under Node they are part of the unit project.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, startProcess } from '../support/server.ts';
import { IS_WHOLE } from '../support/whole.ts';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Documents, sizes and counts come to the same under each runtime: `npm run test:slow` runs these, too. */
const ALIKE = ['published-contract', 'published-surfaces', 'overload', 'prices-and-network', 'callback-creation'];
const FILES = readdirSync(join(PROJECT, 'test/contract'))
  .filter((name) => name.endsWith('.test.ts') && (IS_WHOLE || !ALIKE.includes(name.slice(0, -8))))
  .map((name) => `test/contract/${name}`);

const VITEST = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs');

/** Tests are known by their titles before any of them is run here, so the Bun process runs while this file is read. */
async function reportUnderBun(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-bun-'));
  const file = join(folder, 'report.json');
  const words = ['--bun', VITEST, 'run', '--project', 'unit', '--maxWorkers', '1', '--no-isolate', ...FILES];
  const { stdout, stderr } = await startProcess(binaryOf('bun'), [...words, '--reporter=json', `--outputFile=${file}`])
    .ended;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch (failure) {
    throw new Error(`the contract suite did not run under bun\n${stdout}\n${stderr}`, { cause: failure });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { testResults } = await reportUnderBun();

it('the contract suite has run in bun', () => {
  expect(testResults.length).toBeGreaterThan(5);
  for (const { name, message, assertionResults } of testResults) {
    expect({ name, message, isEmpty: assertionResults.length === 0 }).toEqual({ name, message: '', isEmpty: false });
    for (const { ancestorTitles } of assertionResults) expect(ancestorTitles[0]).toMatch(/\bbun$/);
  }
});

for (const { assertionResults } of testResults) {
  for (const { ancestorTitles, title, status, failureMessages } of assertionResults) {
    describe(ancestorTitles.join(' > '), () => {
      it(title, () => {
        if (status !== 'passed') throw new Error([`${status} under bun`, ...failureMessages].join('\n'));
      });
    });
  }
}
