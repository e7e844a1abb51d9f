/** The alerts of `deploy/prometheus-rules.yml`: they ask for metrics that a running server has, and lead to a chapter that is there. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsPage } from '../support/metrics-page.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** Metrics that other parts of the current change bring. The merge of the last of them empties this list. */
const PENDING: readonly string[] = [
  'paygrade_clock_skew_seconds',
  'paygrade_connections',
  'paygrade_connections_max',
  'paygrade_event_loop_lag_seconds',
  'paygrade_memory_limit_bytes',
  'paygrade_overload_level',
  'paygrade_sales_undelivered',
  'paygrade_settlement_repeated_transactions_total',
  'paygrade_shed_requests_total',
  'paygrade_verification_divergences_total',
];

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
      labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    }),
  );

describe('the alerts', () => {
  let opened: OpenedApp;
  let page: MetricsPage;
  beforeAll(async () => {
    opened = await openedApp();
    page = new MetricsPage(await (await opened.fetch('/metrics')).text());
  });
  afterAll(() => opened.close());

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
    const unlisted = [...names].filter((name) => !FOREIGN.test(name) && !page.families.has(name)).sort();
    // One that has arrived must leave the list of pending names, so that it is held against the page from then on.
    expect(unlisted).toEqual(PENDING);
  });

  it('ask for labels that these metrics have', () => {
    const faults = expressions.flatMap(selectorsOf).flatMap(({ name, labels }) => {
      const { samples } = page.families.get(name) ?? { samples: [] };
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
