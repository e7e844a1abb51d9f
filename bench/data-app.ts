/** The server in this process, called through its handler, with a key and enough credits for a bench. */
import { ok } from 'node:assert/strict';
import { AMOUNT_MAX } from '../src/accounts/limits.ts';
import { SCOPES } from '../src/accounts/scopes.ts';
import { type App, openApp } from '../src/app/app.ts';
import { CONFIGURATION } from '../src/app/configuration.ts';
import type { SurfaceDefinition } from '../src/app/modules.ts';
import { systemClock } from '../src/base/clock.ts';
import { appPorts } from '../test/support/app-ports.ts';
import { NOW_MS } from './synthetic-catalogue.ts';

const BASE_URL = 'http://127.0.0.1:8402';
const DATA_URL = `${BASE_URL}/data`;
const ADMIN_TOKEN = 'a-bench-has-no-secrets-to-keep-from-anyone';

export interface DataAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface DataApp {
  readonly app: App;
  /** @param path below the surface */
  requestTo(path: string): Request;
  /** A complete request: key, rate, question, charge, answer read as text. */
  ask(path: string): Promise<DataAnswer>;
  /** `data` of a 200. */
  dataOf<D>(path: string): Promise<D>;
  close(): Promise<void>;
}

/** A running clock that starts at the newest observation of the synthetic catalogues. */
const startMs = systemClock.nowMs();
const clock = { ...systemClock, nowMs: () => NOW_MS + systemClock.nowMs() - startMs };

/** @param surfaces in addition to the server's, for a bench to compare with */
export async function openDataApp(cataloguePath: string, surfaces?: readonly SurfaceDefinition[]): Promise<DataApp> {
  const config = CONFIGURATION.read({
    SNAPSHOT: cataloguePath,
    STATE_DIR: ':memory:',
    RATE_LIMIT_PER_MINUTE: '0',
    KEY_RATE_LIMIT_PER_MINUTE: '0',
    SHEDDING: 'false',
    ADMIN_TOKEN,
  });
  const failures: unknown[] = [];
  const app = await openApp(
    { ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL },
    appPorts({
      clock,
      onFailure: (failure) => failures.push(failure),
      ...(surfaces === undefined ? {} : { surfaces }),
    }),
  );
  const operate = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await app.fetch(
      new Request(`${BASE_URL}/admin/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const text = await response.text();
    ok(response.status === 201, text);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const { key } = await operate('keys', { organization: 'bench', scopes: SCOPES });
  await operate('grants', { organization: 'bench', kind: 'onboarding', amount: AMOUNT_MAX });
  const headers = { authorization: `Bearer ${String(key)}` };
  const requestTo = (path: string): Request => new Request(`${DATA_URL}${path}`, { headers });
  const ask = async (path: string): Promise<DataAnswer> => {
    const response = await app.fetch(requestTo(path));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    app,
    requestTo,
    ask,
    async dataOf<D>(path: string): Promise<D> {
      const { status, text } = await ask(path);
      ok(status === 200, `${path}: ${status} ${text.slice(0, 300)}`);
      return (JSON.parse(text) as { data: D }).data;
    },
    async close() {
      app.drain();
      await app.close();
      if (failures.length > 0) throw failures[0];
    },
  };
}
