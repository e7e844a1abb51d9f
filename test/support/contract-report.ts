/** Runs the contract suite (`test/contract`) in a separate process and reports the outcome of each test. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryOf, PROJECT, type Runtime, startProcess } from './server.ts';
import { BUNDLE } from './server-paths.ts';

export interface ContractFile {
  readonly name: string;
  /** Why it did not run; '' = it did. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly ancestorTitles: readonly string[];
    readonly title: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

const VITEST = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs');

/** Names of the files, without `.test.ts`. */
export const CONTRACT_FILES: readonly string[] = readdirSync(join(PROJECT, 'test/contract'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.test.ts'.length));

/**
 * @param files of {@link CONTRACT_FILES}
 * @param variables of the process
 * @param timeoutMs of a test, instead of the project's default
 */
export async function contractReport(
  runtime: Runtime,
  files: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  timeoutMs?: number,
): Promise<readonly ContractFile[]> {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-contract-'));
  const file = join(folder, 'report.json');
  const paths = files.map((name) => `test/contract/${name}.test.ts`);
  const timeouts = timeoutMs === undefined ? [] : [`--testTimeout=${timeoutMs}`, `--hookTimeout=${timeoutMs}`];
  const words = [VITEST, 'run', '--project', 'unit', '--maxWorkers', '1', '--no-isolate', ...timeouts, ...paths];
  const { stdout, stderr } = await startProcess(
    binaryOf(runtime),
    [...(runtime === 'bun' ? ['--bun'] : []), ...words, '--reporter=json', `--outputFile=${file}`],
    { PAYGRADE_BUNDLE: BUNDLE, ...variables },
  ).ended;
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { testResults: ContractFile[] }).testResults;
  } catch (failure) {
    throw new Error(`the contract suite did not run under ${runtime}\n${stdout}\n${stderr}`, { cause: failure });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
