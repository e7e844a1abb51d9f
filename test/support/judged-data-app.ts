/**
 * The app in this process with a catalogue file that a test replaces, and a key with all scopes and practically
 * unlimited credits.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogueSource } from '../../src/adapters/files/catalogue-source.ts';
import { type LoadingThread, startLoading } from '../../src/adapters/files/catalogue-thread.ts';
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import { DataJudge } from './data-judge.ts';
import { openedApp } from './opened-app.ts';
import { bytesOfJobs } from './opened-jobs.ts';

const ADMIN_TOKEN = 'the-token-of-the-operator-of-these-tests';
const ORGANIZATION = 'judged';
const SCOPES = ['jobs:read', 'companies:read', 'signals:read'];
/**
 * One of this many reloads uses a thread, as in a server: starting a thread takes longer than all the answers in between.
 */
const RELOADS_BY_THREAD = 12;
export const GRANTED = 10_000_000;

/** Behaves like a host that starts no such thread. */
const NO_THREAD: LoadingThread = {
  done: Promise.resolve({ kind: 'unavailable' }),
  free: () => {},
  close: async () => {},
};

export interface JudgedDataApp {
  readonly judge: DataJudge;
  /** The catalogue file. */
  readonly file: string;
  /** An empty folder that is removed with the app. */
  readonly folder: string;
  /** The moment of every answer, milliseconds since the epoch. */
  nowMs: number;
  /** Serves what is in the file now. */
  reload(): Promise<void>;
  /** A judge with a key of another organization, which has `credits` credits. */
  judgeOf(organization: string, credits: number): Promise<DataJudge>;
  /** Credits of an organization as the operator sees them; by default the judge's organization. */
  remaining(organization?: string): Promise<number>;
  fetch(target: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export async function openJudgedDataApp(nowMs: number): Promise<JudgedDataApp> {
  // In memory where possible: a disk would only cost time.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paygrade-data-'));
  const file = join(folder, 'catalogue.snap');
  writeFileSync(file, bytesOfJobs([]));
  const time = { nowMs };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => performance.now() };
  let reloads = 0;
  const source = await catalogueSource(file, {
    clock,
    timers: systemTimers,
    startLoading: (task, name) => (reloads++ % RELOADS_BY_THREAD === 0 ? startLoading(task, name) : NO_THREAD),
  });
  const opened = await openedApp(
    { SNAPSHOT: file, ADMIN_TOKEN, KEY_RATE_LIMIT_PER_MINUTE: '0' },
    { clock, catalogueSource: source },
  );
  const operate = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await opened.fetch(`/admin/v1/${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const judgeOf = async (organization: string, amount: number): Promise<DataJudge> => {
    const { key } = await operate('keys', { organization, scopes: SCOPES });
    await operate('grants', { organization, kind: 'onboarding', amount });
    return new DataJudge(opened.app, `${opened.url}/data`, String(key), amount);
  };
  return {
    judge: await judgeOf(ORGANIZATION, GRANTED),
    judgeOf,
    file,
    folder,
    get nowMs() {
      return time.nowMs;
    },
    set nowMs(nextMs) {
      time.nowMs = nextMs;
    },
    reload: () => opened.app.reload(),
    remaining: async (organization = ORGANIZATION) =>
      Number((await operate(`organizations/${organization}`)).remaining),
    fetch: async (target, headers = {}) => {
      const { host } = new URL(opened.url);
      return opened.app.fetch(new Request(`${opened.url}/data${target}`, { headers: { host, ...headers } }));
    },
    async close() {
      await opened.close();
      rmSync(folder, { recursive: true });
    },
  };
}
