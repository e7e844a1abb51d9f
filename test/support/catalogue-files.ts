/** Catalogue files made by the command line from job lines, as an operator makes them. */
import { spawnSync } from 'node:child_process';
import { binaryOf, type Ended, MAIN, PROJECT, processEnvironment, type Runtime } from '../support/server.ts';

/** A whole native record; every field can be another. */
export const jobLine = (changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
  id: 'job-1',
  title: 'Engineer',
  company: 'Example',
  company_domain: 'example.com',
  location: 'Oslo',
  department: 'Engineering',
  remote_status: 'remote',
  employment_type: 'full_time',
  source_url: 'https://example.com/jobs/1',
  skills: ['rust'],
  first_observed_at: '2026-10-01T00:00:00Z',
  last_observed_at: '2026-11-01T00:00:00Z',
  ...changes,
});

/** One run of the program to its end. */
export function run(
  runtime: Runtime,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  input = '',
): Ended {
  const { status, stdout, stderr } = spawnSync(binaryOf(runtime), [MAIN, ...words], {
    cwd: PROJECT,
    env: processEnvironment(variables),
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { exitCode: status, stdout, stderr };
}

/** Writes `file` anew from the records; by Bun, which starts faster than Node. */
export function buildSnapshot(file: string, jobs: readonly Readonly<Record<string, unknown>>[]): void {
  const lines = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
  const { exitCode, stderr } = run('bun', ['snapshot', 'build', '--out', file], {}, lines);
  if (exitCode !== 0) throw new Error(`snapshot build: ${stderr}`);
}
