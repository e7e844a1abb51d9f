/** The official x402 clients pay every jobs route, and what they get is exactly the contract. */
import { wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import axios, { type AxiosError, type AxiosResponse } from 'axios';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listChanges } from '../../src/modules/jobs/changes.ts';
import { summarizeCompany } from '../../src/modules/jobs/company.ts';
import { getJob } from '../../src/modules/jobs/detail.ts';
import { describeMarket } from '../../src/modules/jobs/market.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import { listSkills } from '../../src/modules/jobs/skills.ts';
import { checkPublished } from '../support/published.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';

describe.each(RUNTIMES)('the official clients against %s', (runtime) => {
  let server: RunningServer;
  let domain: string;
  let jobId: string;
  beforeAll(async () => {
    server = await startServer(runtime);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  const account = wallet();
  const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(account) }];
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes });
  const plainAxios = axios.create();
  const seen = ({ config, status, headers, data }: AxiosResponse): void => {
    const { pathname: path } = new URL(axios.getUri(config));
    const method = (config.method ?? 'get').toUpperCase();
    const bytes = Buffer.from(JSON.stringify(data));
    checkPublished({ method, path, status, headers: new Headers(headers as Record<string, string>), bytes });
  };
  plainAxios.interceptors.response.use(
    (response) => {
      seen(response);
      return response;
    },
    (failure: AxiosError) => {
      if (failure.response !== undefined) seen(failure.response);
      throw failure;
    },
  );
  const payingAxios = wrapAxiosWithPaymentFromConfig(plainAxios as never, { schemes } as never);

  const ROUTES = [
    ['signals', findSignals, () => '/v1/jobs/signals?role=engineer'],
    ['search', searchJobs, () => '/v1/jobs/search?keyword=engineer&limit=10'],
    ['company', summarizeCompany, () => `/v1/jobs/company?company=${domain}`],
    ['detail', getJob, () => `/v1/jobs/detail?id=${jobId}`],
    ['changes', listChanges, () => '/v1/jobs/changes?role=engineer&limit=3'],
    ['skills', listSkills, () => `/v1/jobs/skills?company=${domain}`],
    ['market', describeMarket, () => '/v1/jobs/market?role=engineer'],
  ] as const;

  it.each(ROUTES)('@x402/fetch buys %s', async (_, route, path) => {
    const response = await payingFetch(server.url + path());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    const receipt = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
    expect(receipt).toMatchObject({ success: true, network: 'eip155:8453' });
    expect(receipt.payer?.toLowerCase()).toBe(account.address.toLowerCase());
    expect(receipt.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    const body = v.parse(route.answer, await response.json()) as {
      data: { companies?: { company: { domain: string | null } }[]; jobs?: { id: string }[] };
    };
    for (const { company } of body.data.companies ?? []) domain = company.domain ?? domain;
    for (const { id } of body.data.jobs ?? []) jobId = id;
  });

  it.each(ROUTES)('@x402/axios buys %s', async (_, route, path) => {
    const response = await payingAxios.get(server.url + path());
    expect(response.status).toBe(200);
    v.parse(route.answer, response.data);
    expect(decodePaymentResponseHeader(String(response.headers['payment-response'])).success).toBe(true);
  });
});
