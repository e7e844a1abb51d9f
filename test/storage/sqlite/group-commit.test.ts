/** What durability costs (reliability 270): requests of one turn share their transactions, and with them the syncs. */
import { expect, it } from 'vitest';
import { openJobsApp } from '../../support/jobs-app.ts';
import { MetricsPage } from '../../support/metrics-page.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { wallet } from '../../support/wallet.ts';

const PAYMENT_COUNT = 64;

it('sixty-four payments at once share their transactions (reliability 270)', async () => {
  const stateDir = testFolder();
  const jobs = await openJobsApp({ STATE_DIR: stateDir });
  const page = async (): Promise<MetricsPage> => new MetricsPage((await jobs.get('/metrics')).text);
  const payments = await Promise.all(Array.from({ length: PAYMENT_COUNT }, () => jobs.payment(jobs.search, wallet())));
  const before = await page();
  const answers = await Promise.all(payments.map((payment) => jobs.pay(jobs.search, payment)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(PAYMENT_COUNT);
  const after = await page();
  const rise = (name: string): number => after.value(name) - before.value(name);
  // Each payment is at least an intent and an outcome on record.
  expect(rise('paygrade_state_operations_total')).toBeGreaterThanOrEqual(2 * PAYMENT_COUNT);
  expect(rise('paygrade_state_commits_total')).toBeLessThan(PAYMENT_COUNT);
  await jobs.close();
});
