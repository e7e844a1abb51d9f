import { describe, expect, it } from 'vitest';
import { Exposition } from '../../src/base/prometheus.ts';
import { defineErrors } from '../../src/http/errors.ts';
import { OperationMeter } from '../../src/http/meter.ts';
import { MetricsPage } from '../support/metrics-page.ts';

function pageOf(meter: OperationMeter): MetricsPage {
  const page = new Exposition();
  page.family('requests_total', 'counter', 'Requests.');
  meter.writeStatuses(page);
  page.family('refusals_total', 'counter', 'Refusals.');
  meter.writeCodes(page);
  page.family('duration_seconds', 'histogram', 'Time.');
  meter.writeLatencies(page);
  return new MetricsPage(page.text);
}

const operation = 'ask';
const { PAYMENT_REQUIRED, INVALID_PARAMETER, NOT_FOUND, INTERNAL_ERROR } = defineErrors({
  PAYMENT_REQUIRED: { status: 402 },
  INVALID_PARAMETER: { status: 400 },
  NOT_FOUND: { status: 404 },
  INTERNAL_ERROR: { status: 500 },
});

describe('a meter', () => {
  it('shows every declared status from the start, and others once they happen', () => {
    const meter = new OperationMeter({ operation }, [200], [PAYMENT_REQUIRED, INVALID_PARAMETER, INTERNAL_ERROR]);
    expect(pageOf(meter).series.filter((one) => !one.startsWith('duration'))).toHaveLength(7);
    meter.count(402, 1, 'PAYMENT_REQUIRED');
    meter.count(402, 1, 'PAYMENT_REQUIRED');
    meter.count(500, 1, 'INTERNAL_ERROR');
    const page = pageOf(meter);
    expect(page.value('requests_total', { operation, status: '402' })).toBe(2);
    meter.count(418, 1, undefined);
    expect(pageOf(meter).value('requests_total', { operation, status: '418' })).toBe(1);
    expect(page.value('requests_total', { operation, status: '200' })).toBe(0);
    expect(page.value('refusals_total', { operation, code: 'INTERNAL_ERROR' })).toBe(1);
    expect(meter.countOf(402)).toBe(2);
  });

  it.each([
    [0, '0.00025'],
    [0.25, '0.00025'],
    [0.2501, '0.0005'],
    [100, '0.1'],
    [30_000, '30'],
    [30_001, '+Inf'],
  ])('%f ms fall into the bucket up to %s s', (durationMs, le) => {
    const meter = new OperationMeter({ operation }, [200], [NOT_FOUND]);
    meter.count(200, durationMs, undefined);
    const samples = pageOf(meter).families.get('duration_seconds')!.samples;
    const first = samples.find(({ name, value }) => name === 'duration_seconds_bucket' && value === 1);
    expect(first?.labels.le).toBe(le);
    expect(samples.find(({ name }) => name === 'duration_seconds_sum')?.value).toBe(durationMs / 1000);
  });
});
