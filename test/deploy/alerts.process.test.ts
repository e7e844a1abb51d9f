/** The alerts of `deploy/prometheus-rules.yml`: they ask for metrics that a running server has, and lead to a chapter that is there. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedService, scriptedService, sending } from '../adapters/engine/scripted-service.ts';
import { type Facilitated, openFacilitated } from '../blackbox/facilitated-server.ts';
import { expectPaid } from '../support/answers.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { watchedFolder } from '../support/watched-boards.ts';

const ENGINE_TOKEN = 'token-between-gates-and-services-0123456789';

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** What Prometheus and the node exporter add. */
const FOREIGN = /^(?:up|node_[a-z_]+)$/;

const RULES = textOf('deploy/prometheus-rules.yml');
const expressions = [...RULES.matchAll(/^ +expr: (.+)$/gm)].map(([, expression = '']) => expression);
const alerts = [...RULES.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);

/** Selectors of an expression: names with the labels they ask for. What stands in quotes is no name. */
const selectorsOf = (expression: string): { name: string; labels: Record<string, string> }[] =>
  [...expression.matchAll(/\b((?:paygrade|process|node)_[a-z_]+|up)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name,
      labels: Object.fromEntries([...labels.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, key, value]) => [key, value])),
    }),
  );

describe('the alerts', () => {
  let shop: Facilitated;
  let gate: RunningServer;
  let service: ScriptedService;
  let folder: string;
  let page: MetricsPage;
  /** What a gate, or a server with watched boards, has beside the others. */
  let gatePage: MetricsPage;
  const familyOf = (name: string) => page.families.get(name) ?? gatePage.families.get(name);
  beforeAll(async () => {
    // What belongs to a facilitator is there with one; the skew of the clock once an answer had a date.
    shop = await openFacilitated('node', wallet().address);
    const account = wallet();
    const payment = await shop.payment(account);
    const date = new Date(Date.now() + 60_000).toUTCString();
    shop.plan(payment, '/verify', { status: 200, body: { isValid: true, payer: account.address }, headers: { date } });
    expectPaid(await shop.jobs.pay(shop.jobs.search, payment), account.address);
    page = new MetricsPage((await shop.jobs.get('/metrics')).text);

    folder = mkdtempSync(join(tmpdir(), 'paygrade-alerts-'));
    watchedFolder(folder);
    service = await scriptedService(sending(200, 'nonsense'), ENGINE_TOKEN);
    gate = await startServer('node', {
      ENGINE_TOKEN,
      ENGINE_URL: service.url,
      SNAPSHOT: '',
      CATALOGUE: folder,
      LOG_LEVEL: 'error',
    });
    expect((await buyOver(gate, '/v1/jobs/search?keyword=data')).status).toBe(502);
    gatePage = new MetricsPage(await (await gate.fetch('/metrics')).text());
  }, 60_000);
  afterAll(async () => {
    expect(await shop.close()).toBe(0);
    expect(await gate.stop()).toBe(0);
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('each have an expression, a severity, a summary and a runbook', () => {
    expect(alerts.length).toBeGreaterThan(15);
    expect(new Set(alerts).size).toBe(alerts.length);
    expect(expressions).toHaveLength(alerts.length);
    expect([...RULES.matchAll(/severity: (?:page|ticket) /g)]).toHaveLength(alerts.length);
    expect([...RULES.matchAll(/^ +summary: ".+"$/gm)]).toHaveLength(alerts.length);
    expect([...RULES.matchAll(/^ +runbook: \S+$/gm)]).toHaveLength(alerts.length);
  });

  it('ask for metrics that a running server lists', () => {
    const names = new Set(expressions.flatMap(selectorsOf).map(({ name }) => name));
    const unlisted = [...names].filter((name) => !FOREIGN.test(name) && familyOf(name) === undefined).sort();
    expect(unlisted).toEqual([]);
  });

  it('ask for labels that these metrics have', () => {
    const faults = expressions.flatMap(selectorsOf).flatMap(({ name, labels }) => {
      const { samples } = familyOf(name) ?? { samples: [] };
      if (samples.length === 0) return [];
      return Object.entries(labels)
        .filter(([key]) => key !== 'job') // Prometheus adds it
        .filter(
          ([key, value]) => !value.split('|').every((one) => samples.some((sample) => sample.labels[key] === one)),
        )
        .map(([key, value]) => `${name}{${key}="${value}"}`);
    });
    expect(faults).toEqual([]);
  });

  it('know a clock that is behind, as a number below zero', () => {
    expect(Math.abs(page.value('paygrade_clock_skew_seconds') + 60)).toBeLessThan(5);
  });

  it('lead to chapters of the runbook', () => {
    const chapters = [...textOf('docs/runbook.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    );
    const named = [...RULES.matchAll(/runbook: docs\/runbook\.md#(\S+)/g)].map(([, anchor = '']) => anchor);
    expect(named.filter((anchor) => !chapters.includes(anchor))).toEqual([]);
  });
});
