/**
 * What the Jobs Data API adds to a server's memory: a process serves the paid routes, then every route of the Data API,
 * several times each. Resident size and heap after full collections, before and after.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { SCOPES } from '../src/accounts/scopes.ts';
import { systemRandom } from '../src/base/random.ts';
import { parseOffer, Signer } from '../src/load/signing.ts';
import { LARGE } from './data-catalogue.ts';
import { type Context, type Figure, isBun } from './harness.ts';
import { startMeasured } from './served.ts';

const ADMIN_TOKEN = 'a-bench-has-no-secrets-to-keep-from-anyone';
const ROUNDS = 20;
const WORDS = ['engineer', 'nurse', 'sales', 'data', 'manager', 'senior', 'python', 'designer'];

const paidPaths = (round: number): string[] => {
  const word = WORDS[round % WORDS.length]!;
  return [
    `/v1/jobs/search?keyword=${word}`,
    `/v1/jobs/signals?role=${word}`,
    `/v1/jobs/company?company=${LARGE}`,
    `/v1/jobs/changes?role=${word}`,
    `/v1/jobs/skills?role=${word}`,
    `/v1/jobs/market?role=${word}`,
  ];
};

const dataPaths = (round: number, id: string): string[] => {
  const word = WORDS[round % WORDS.length]!;
  return [
    `/v1/jobs/search?keyword=${word}&department=engineering&skill=python`,
    `/v1/jobs/search?keyword=${word}&location=germany&status=any`,
    `/v1/jobs/search?skill=${word}`,
    '/v1/jobs?status=any&limit=100',
    `/v1/jobs/${id}`,
    `/v1/jobs/${id}/history`,
    '/v1/history?limit=100',
    '/v1/history?type=reopened',
    `/v1/history?company=${LARGE}&type=closed`,
    `/v1/companies/${LARGE}`,
    `/v1/companies/${LARGE}/jobs?status=closed`,
    `/v1/companies/${LARGE}/hiring`,
    '/v1/skills',
    `/v1/skills?q=${word.slice(0, 3)}`,
    `/v1/skills?department=engineering&company=${LARGE}`,
    '/v1/metrics/overview',
    '/v1/metrics/hiring',
    '/v1/public/overview',
    `/v1/public/search?q=${word}`,
  ];
};

export async function measure({ dataCataloguePath }: Context): Promise<Figure[]> {
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const served = await startMeasured(process.execPath, isBun, [main, 'serve'], {
    PORT: '0',
    STATE_DIR: ':memory:',
    SNAPSHOT: dataCataloguePath,
    LOG_LEVEL: 'error',
    RATE_LIMIT_PER_MINUTE: '0',
    KEY_RATE_LIMIT_PER_MINUTE: '0',
    SHEDDING: 'false',
    ADMIN_TOKEN,
  });
  try {
    const base = `http://127.0.0.1:${served.port}`;
    const ask = async (path: string, expected: number, init: RequestInit = {}): Promise<Response> => {
      const response = await fetch(base + path, init);
      deepStrictEqual(response.status, expected, path);
      return response;
    };
    const signer = new Signer(systemRandom);
    const buy = async (path: string): Promise<{ data: { jobs?: { id: string }[] } }> => {
      const unpaid = await ask(path, 402);
      await unpaid.arrayBuffer();
      const offer = parseOffer(unpaid.headers.get('payment-required') ?? '')!;
      const { header } = signer.sign(offer, Date.now());
      return (await (await ask(path, 200, { headers: { 'payment-signature': header } })).json()) as never;
    };
    const operate = async (path: string, body: object): Promise<{ key?: string }> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await (await ask(`/admin/v1/${path}`, 201, init)).json()) as { key?: string };
    };
    const { key } = await operate('keys', { organization: 'bench', scopes: SCOPES });
    await operate('grants', { organization: 'bench', kind: 'onboarding', amount: 1_000_000 });

    const { jobs } = (await buy('/v1/jobs/search?keyword=engineer')).data;
    for (let round = 0; round < ROUNDS; round++) {
      for (const path of paidPaths(round)) await buy(path);
      await buy(`/v1/jobs/detail?id=${jobs![round % jobs!.length]!.id}`);
    }
    await served.memory(); // the first collection also frees leftovers of the start
    const before = await served.memory();
    const headers = { authorization: `Bearer ${key}` };
    for (let round = 0; round < ROUNDS; round++) {
      for (const path of dataPaths(round, jobs![round % jobs!.length]!.id)) {
        await (await ask(`/data${path}`, 200, { headers })).arrayBuffer();
      }
    }
    await served.memory();
    const after = await served.memory();
    const mib = (bytes: number): number => bytes / 2 ** 20;
    const figure = (name: string, of: 'residentBytes' | 'heapBytes'): Figure => ({
      name,
      unit: 'MiB',
      value: mib(after[of] - before[of]),
      note: `${Math.round(mib(before[of]))} before, ${Math.round(mib(after[of]))} after`,
    });
    return [figure('resident memory beyond the paid routes', 'residentBytes'), figure('heap beyond', 'heapBytes')];
  } finally {
    served.stop();
  }
}
