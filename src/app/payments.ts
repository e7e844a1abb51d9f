/** Opens recipient, settlement, reconciler and checkout from the configuration; all surfaces share them. */
import { PaymentMeters } from '../access/payment-meter.ts';
import type { Seller } from '../access/payment-offer.ts';
import type { PaidServices } from '../access/x402.ts';
import { DEADLINES, type FacilitatorPorts, HttpFacilitator } from '../adapters/facilitator/facilitator-http.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { Random } from '../base/random.ts';
import { zeroCounts } from '../base/zero-counts.ts';
import { ConfigError } from '../config/config.ts';
import type { Component, ModuleContext, SharedConfig } from '../modules/module.ts';
import type { Books } from '../payment/books.ts';
import { Checkout } from '../payment/checkout.ts';
import { unusualPricesIn } from '../payment/prices.ts';
import { type Address, networkOf } from '../payment/protocol/network.ts';
import type { ReservationKey } from '../payment/protocol/order.ts';
import type { ReservationStatus, Reservations } from '../payment/reservations.ts';
import { LocalSettlement } from '../payment/settlement/play-ledger.ts';
import { type CaseReport, Reconciler } from '../payment/settlement/reconciler.ts';
import type { Settlement } from '../payment/settlement/settlement.ts';
import { SettlementTurns } from '../payment/settlement/settlement-turns.ts';
import type { RecoveryQueue } from '../payment/signature/recovery-queue.ts';
import type { Backend } from '../storage/backend.ts';

/** The kinds of case reports, as the metrics list them. */
const CASE_REPORT_KINDS = ['settled', 'released', 'dead', 'unrecorded'] as const satisfies CaseReport['kind'][];

/** `serviceName` of every offer. */
const SERVICE_NAME = 'paygrade';

export interface PaymentPorts extends FacilitatorPorts {
  readonly random: Random;
  /** Called with each report of the reconciler. */
  onCaseReport(report: CaseReport): void;
  onFailure(failure: unknown, source: string): void;
}

export interface OpenPayments {
  readonly component: Component;
  readonly paid: PaidServices['paid'];
  readonly paymentStatusOf: ModuleContext['paymentStatusOf'];
  /** Notices for the operator at start, one line each. */
  readonly notices: readonly string[];
}

interface OpenSettlement {
  readonly settlement: Settlement;
  readonly turns: SettlementTurns | undefined;
  isReachable(): boolean;
  readonly component: Component;
}

function writeTurns(page: Exposition, turns: SettlementTurns): void {
  const { held, waiting, rejected } = turns.counts();
  page
    .single('paygrade_settlement_turns', 'gauge', 'Purchases that hold a turn with the facilitator.', held)
    .single('paygrade_settlement_turns_waiting', 'gauge', 'Payments that wait for a turn.', waiting)
    .single('paygrade_settlement_turns_rejected_total', 'counter', 'Payments that got no turn.', rejected);
}

function openSettlement(
  config: SharedConfig,
  { playLedger }: Backend,
  recoveries: RecoveryQueue,
  ports: PaymentPorts,
): OpenSettlement {
  if (playLedger !== undefined) {
    return {
      settlement: new LocalSettlement(playLedger),
      turns: undefined,
      isReachable: () => true,
      component: {},
    };
  }
  const { facilitatorUrl: url, facilitatorToken: token } = config;
  if (url === null) throw new ConfigError('FACILITATOR_URL is required with SETTLEMENT=facilitator');
  const network = networkOf(config.network);
  const settlement = new HttpFacilitator({ url, token, network, deadlines: DEADLINES }, ports);
  const { clock, timers } = ports;
  const turns = new SettlementTurns({ clock, timers, isKnownPayer: (network) => recoveries.isKnownPayer(network) });
  return {
    settlement,
    turns,
    isReachable: () => settlement.isReachable(),
    component: {
      metrics(page) {
        writeTurns(page, turns);
        settlement.signals.writeMetrics(page);
      },
      start: () => settlement.start(),
      drain: () => settlement.drain(),
      close: () => settlement.stop(),
    },
  };
}

/** The status of an authorization: from the reservations, else from the books. */
function statusOf(
  key: ReservationKey,
  reservations: Reservations,
  books: Books,
): MaybePromise<ReservationStatus | undefined> {
  return chain(reservations.statusOf(key), (status) => {
    if (status !== undefined) return status;
    return chain(books.find(key), (sale) =>
      sale === undefined ? undefined : { kind: 'settled', transaction: sale.transaction },
    );
  });
}

const PLAY_NOTICE =
  'SETTLEMENT=local: the server verifies signatures, but payments move play money and nothing reaches a chain';

/** What offers state about the server with this configuration. */
export const sellerOf = (
  { network, prices, settlement }: Pick<SharedConfig, 'network' | 'prices' | 'settlement'>,
  payTo: Address,
): Seller => ({
  payTo,
  network: networkOf(network),
  prices,
  isPlay: settlement === 'local',
  serviceName: SERVICE_NAME,
});

const UNUSED_FACILITATOR_NOTICE =
  'FACILITATOR_URL is not used with SETTLEMENT=local, which is the default: set SETTLEMENT=facilitator to sell for real';

function noticesOf({ facilitatorUrl, network, prices, settlement }: SharedConfig): readonly string[] {
  const { isTest, name } = networkOf(network);
  const unusual = unusualPricesIn(prices).map((key) => `${key} ${prices[key]}`);
  return [
    ...(settlement === 'local' ? [PLAY_NOTICE] : []),
    ...(settlement === 'local' && facilitatorUrl !== null ? [UNUSED_FACILITATOR_NOTICE] : []),
    ...(settlement === 'facilitator' && isTest
      ? [`NETWORK=${network}: ${name} is a test network, its USDC is worth nothing`]
      : []),
    ...(unusual.length === 0
      ? []
      : [
          `PRICES: official clients refuse to pay more than 1 USDC unless their user allows it (${unusual.join(', ')})`,
        ]),
  ];
}

interface MeteredPayments extends Pick<Backend, 'reservations' | 'books'> {
  readonly meters: PaymentMeters;
  readonly reportCounts: Readonly<Record<CaseReport['kind'], number>>;
  readonly reconciler: Reconciler;
}

function writePaymentMetrics(
  page: Exposition,
  { meters, reportCounts, reconciler, reservations, books }: MeteredPayments,
): void {
  page.family('paygrade_payments_total', 'counter', 'Requests to paid operations by payment outcome.');
  meters.writeOutcomes(page);
  page.family(
    'paygrade_payment_recoveries_total',
    'counter',
    'Reports on settlements of unknown outcome, by how they ended.',
  );
  for (const end of CASE_REPORT_KINDS) page.sample(reportCounts[end], { end });
  const { openCount } = reconciler;
  page
    .single('paygrade_settlements_in_flight', 'gauge', 'Settlements that have not answered yet.', meters.inFlightCount)
    .single(
      'paygrade_settlements_unknown',
      'gauge',
      'Settlements whose outcome is not known or not recorded.',
      openCount,
    )
    .single('paygrade_reservations', 'gauge', 'Authorizations that are used or in use.', reservations.count)
    .single(
      'paygrade_sales_undelivered',
      'gauge',
      'Sales whose answer did not go out, without those of the last seconds.',
      books.counts.undeliveredCount,
    )
    .family('paygrade_sales_total', 'counter', 'Settled payments, by operation.');
  for (const operation of new Set([...meters.operations, ...books.counts.byOperation.keys()])) {
    page.sample(books.counts.byOperation.get(operation) ?? 0, { operation });
  }
}

/** @throws ConfigError or Error, one line, when a configured part cannot be opened */
export async function openPayments(
  config: SharedConfig,
  backend: Backend,
  recoveries: RecoveryQueue,
  ports: PaymentPorts,
): Promise<OpenPayments> {
  const { clock, random, timers } = ports;
  const { reservations, books } = backend;
  const payTo = config.payTo ?? (await backend.throwawayPayee());
  const { settlement, turns, isReachable, component } = openSettlement(config, backend, recoveries, ports);
  const reportCounts = zeroCounts(CASE_REPORT_KINDS);
  const onCaseReport = (report: CaseReport): void => {
    reportCounts[report.kind]++;
    ports.onCaseReport(report);
  };
  const onBug = (bug: Error): void => ports.onFailure(bug, 'payments');
  const reconciler = new Reconciler({ settlement, reservations, clock, timers, onCaseReport, onBug });
  await reservations.handOver((one) => reconciler.takeOver(one));
  const meters = new PaymentMeters();
  return {
    component: {
      readiness: () => ({ settlement: isReachable() && !recoveries.isOutOfOrder() }),
      metrics(page) {
        writePaymentMetrics(page, { meters, reportCounts, reconciler, reservations, books });
        component.metrics?.(page);
      },
      start: () => component.start?.(),
      drain() {
        reconciler.drain();
        component.drain?.();
      },
      close() {
        reconciler.stop();
        return component.close?.();
      },
    },
    paid: {
      checkout: new Checkout({ reservations, settlement, reconciler, recoveries, turns, clock, random }),
      seller: sellerOf(config, payTo),
      meters,
      books,
    },
    paymentStatusOf: (key) => statusOf(key, reservations, books),
    notices: noticesOf(config),
  };
}
