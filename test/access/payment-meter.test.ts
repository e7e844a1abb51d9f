/** Payments are counted by what they came to, from the results of the checkout. */
import { describe, expect, it } from 'vitest';
import { PAYMENT_OUTCOMES, PaymentMeter, PaymentMeters } from '../../src/access/payment-meter.ts';
import { type PaidServices, paid } from '../../src/access/x402.ts';
import { Exposition } from '../../src/base/prometheus.ts';
import type { Admission } from '../../src/http/access.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import type { Checkout } from '../../src/payment/checkout.ts';
import { fault } from '../../src/payment/protocol/envelope.ts';
import { BASE } from '../../src/payment/protocol/network.ts';
import type { Begun, Settled } from '../../src/payment/purchase.ts';
import { PAYEE, signedPayment } from '../payment/fixture.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { encodeHeader } from '../support/wallet.ts';

const LABELS = { operation: 'ask' };
const MOUNT = { labels: {}, baseUrl: 'https://api.example.com' };
const PAYER = `0x${'1'.repeat(40)}` as typeof PAYEE;

/** The admitter over a checkout that does as told, and what its meter has counted. */
function setUp(checkout: Partial<Checkout>) {
  const meters = new PaymentMeters();
  const services = {
    paid: { checkout, seller: { payTo: PAYEE, network: BASE, prices: {}, isPlay: false }, meters },
  } as unknown as PaidServices;
  const admitter = paid('0.02').open(services, searchJobs, MOUNT);
  const counted = (): Record<string, number> => {
    const page = new Exposition();
    page.family('payments_total', 'counter', 'Payments.');
    meters.writeOutcomes(page);
    const { samples } = new MetricsPage(page.text).families.get('payments_total')!;
    return Object.fromEntries(
      samples.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.outcome, value]),
    );
  };
  return { admitter, meters, counted };
}

const request = (payment: string | null): RequestView =>
  ({ search: '', header: (name: string) => (name === 'payment-signature' ? payment : null) }) as RequestView;

const BEGUN: readonly (readonly [begun: Begun, outcome: string])[] = [
  [{ kind: 'invalid', fault: fault('invalid_payload', 'no'), detail: '' }, 'invalid'],
  [{ kind: 'used', status: { kind: 'reserved' }, payer: PAYER }, 'repeated'],
  [{ kind: 'crowded' }, 'crowded'],
  [{ kind: 'unavailable', detail: '' }, 'unavailable'],
];

describe('the meter of a paid operation', () => {
  it.each(BEGUN)('counts %j as %s, at once and later', async (begun, outcome) => {
    for (const how of ['now', 'later'] as const) {
      const { admitter, counted } = setUp({ begin: () => (how === 'now' ? begun : Promise.resolve(begun)) });
      const admitted = admitter.admit(request(encodeHeader(await signedPayment())), {}, {});
      expect(admitted instanceof Promise).toBe(how === 'later');
      await admitted;
      expect(counted()).toEqual({ [outcome]: 1 });
    }
  });

  it('counts an offer, an offer that cannot be made, a malformed header and a bug', async () => {
    const offers = setUp({ offerFault: () => undefined });
    await offers.admitter.admit(request(null), {}, {});
    expect(offers.counted()).toEqual({ offered: 1 });
    const away = setUp({ offerFault: () => ({ kind: 'unavailable', detail: 'away' }) });
    await away.admitter.admit(request(null), {}, {});
    expect(away.counted()).toEqual({ unavailable: 1 });
    const malformed = setUp({});
    await malformed.admitter.admit(request('!'), {}, {});
    expect(malformed.counted()).toEqual({ invalid: 1 });
    const failing = setUp({ begin: () => Promise.reject(new Error('bug')) });
    await expect(failing.admitter.admit(request(encodeHeader(await signedPayment())), {}, {})).rejects.toThrow('bug');
    expect(failing.counted()).toEqual({ failed: 1 });
  });

  const settled: readonly (readonly [settled: Settled | Error, outcome: string])[] = [
    [{ kind: 'settled', payer: PAYER, transaction: '' }, 'settled'],
    [{ kind: 'refused', payer: PAYER, reason: 'insufficient_funds', transaction: '', detail: '' }, 'refused'],
    [{ kind: 'abandoned' }, 'refused'],
    [{ kind: 'pending', payer: PAYER, transaction: '', detail: '' }, 'unknown'],
    [{ kind: 'unavailable', detail: '' }, 'unavailable'],
    [new Error('bug'), 'failed'],
  ];
  it.each(settled)('counts a settlement that ends in %j as %s, and in flight until then', async (result, outcome) => {
    const meter = new PaymentMeter(LABELS);
    const settling = meter.countSettled(result instanceof Error ? Promise.reject(result) : Promise.resolve(result));
    expect(meter.inFlightCount).toBe(1);
    await settling.catch(() => {});
    const counts = Object.fromEntries(Object.entries(meter.counts).filter(([, count]) => count > 0));
    expect([meter.inFlightCount, counts]).toEqual([0, { [outcome]: 1 }]);
  });

  it('counts a released payment, and releases it', async () => {
    let released = 0;
    const purchase = { order: { payer: PAYER }, reservation: { serial: 1 }, names: [] } as unknown as Extract<
      Begun,
      { kind: 'purchase' }
    >['purchase'];
    const { admitter, counted } = setUp({
      begin: () => ({ kind: 'purchase', purchase }),
      release: () => {
        released++;
      },
    });
    ((await admitter.admit(request(encodeHeader(await signedPayment())), {}, {})) as Admission).release?.();
    expect([released, counted()]).toEqual([1, { released: 1 }]);
  });

  it('starts with every outcome at zero', () => {
    expect(new PaymentMeter(LABELS).counts).toEqual(
      Object.fromEntries(PAYMENT_OUTCOMES.map((outcome) => [outcome, 0])),
    );
  });
});
