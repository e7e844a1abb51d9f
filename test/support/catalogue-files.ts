/** Catalogue files made by the command line from job lines, as an operator makes them. */
import { run as runHere } from '../cli/captured-io.ts';

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

/** Writes `file` from the records, as `snapshot build` does. */
export async function buildSnapshot(file: string, jobs: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const lines = jobs.map((job) => `${JSON.stringify(job)}\n`).join('');
  const { exitCode, stderr } = await runHere(['snapshot', 'build', '--out', file], { stdin: lines, nowMs: Date.now() });
  if (exitCode !== 0) throw new Error(`snapshot build: ${stderr}`);
}
