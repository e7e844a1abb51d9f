/**
 * Joins what taking money needs, as the configuration says: recipient, reservations, settlement and its reconciler. One for
 * the whole server, shared by every paid route.
 */

import { contractShare, type Till } from '../access/x402.ts';
import { type FacilitatorFetch, HttpFacilitator } from '../adapters/facilitator/facilitator-http.ts';
import { throwawayPayee } from '../adapters/files/payee-file.ts';
import { systemTimers } from '../adapters/process/system-timers.ts';
import type { Clock } from '../base/clock.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { Random } from '../base/random.ts';
import type { Timers } from '../base/timers.ts';
import { type Config, ConfigError, IN_MEMORY } from '../config/config.ts';
import { reservationKeyOf } from '../payment/protocol/order.ts';
import type { ReservationStatus } from '../payment/reservations.ts';
import { LocalSettlement, type PlayLedger } from '../payment/settlement/play-ledger.ts';
import { Reconciler, type Resolution } from '../payment/settlement/reconciler.ts';
import type { Settlement } from '../payment/settlement/settlement.ts';
import type { RecoveryQueue } from '../payment/signature/recovery-queue.ts';
import type { Backend } from '../storage/backend.ts';

export interface OpenTill {
  /** What the gates of the paid routes share. */
  readonly gate: Till;
  /** Whether a payment can be settled now. */
  settlementReady(): boolean;
  /** Where an authorization stands, by payer (0x and 40 hex digits) and nonce (0x and 64). */
  statusOf(payer: string, nonce: string): MaybePromise<ReservationStatus | undefined>;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  /** For the metrics and for tests. */
  counts(): TillCounts;
  close(): void;
}

export interface TillCounts {
  /** Authorizations that are not free. */
  readonly reservations: number;
  /** Settlements without a known end. */
  readonly unknown: number;
}

/** The outside of a till; what is left out is the runtime's own. */
export interface TillPorts {
  readonly timers?: Timers | undefined;
  /** How the facilitator is called. */
  readonly facilitatorFetch?: FacilitatorFetch | undefined;
}

/** `serviceName` of every offer. */
export const SERVICE_NAME = 'paygrade';

interface OpenSettlement {
  readonly settlement: Settlement;
  isReachable(): boolean;
  stop(): void;
}

function openSettlement(
  config: Config,
  clock: Clock,
  timers: Timers,
  fetch: FacilitatorFetch | undefined,
  ledger: PlayLedger | undefined,
): OpenSettlement {
  if (config.settlement === 'local') {
    if (ledger === undefined) throw new Error('the backend was opened without a play ledger');
    return { settlement: new LocalSettlement(ledger), isReachable: () => true, stop: () => {} };
  }
  if (config.facilitatorUrl === null) throw new ConfigError('FACILITATOR_URL is required with SETTLEMENT=facilitator');
  const { facilitatorUrl: url, facilitatorToken: token } = config;
  const settlement = new HttpFacilitator({ url, token, clock, timers, fetch });
  settlement.start();
  return { settlement, isReachable: () => settlement.isReachable(), stop: () => settlement.stop() };
}

function noticesOf(config: Config): string[] {
  const notices: string[] = [];
  if (config.settlement === 'local') {
    notices.push(
      'SETTLEMENT=local: signatures are verified, but payments move in a play ledger; nothing is on a chain',
    );
  }
  return notices;
}

/** @throws ConfigError or Error, one line, when the configured parts cannot be made */
export function openTill(
  config: Config & { readonly baseUrl: string },
  clock: Clock,
  random: Random,
  recoveries: RecoveryQueue,
  onResolution: (resolution: Resolution) => void,
  { reservations, playLedger }: Pick<Backend, 'reservations' | 'playLedger'>,
  ports: TillPorts = {},
): OpenTill {
  const { timers = systemTimers, facilitatorFetch } = ports;
  const stateDir = config.stateDir === IN_MEMORY ? null : config.stateDir;
  const payTo = config.payTo ?? throwawayPayee(stateDir, random);
  const { settlement, isReachable, stop } = openSettlement(config, clock, timers, facilitatorFetch, playLedger);
  const reconciler = new Reconciler({ settlement, reservations, clock, timers, onResolution });
  void chain(reservations.takeUnsettled(), (cases) => {
    for (const { reservation, order } of cases) reconciler.watch(reservation, order);
  });
  return {
    gate: {
      baseUrl: config.baseUrl,
      payTo,
      serviceName: SERVICE_NAME,
      reservations,
      settlement,
      reconciler,
      recoveries,
      contracts: contractShare(),
      clock,
    },
    settlementReady: isReachable,
    statusOf: (payer, nonce) => reservations.statusOf(reservationKeyOf(payer, nonce)),
    notices: noticesOf(config),
    counts: () => ({ reservations: reservations.count, unknown: reconciler.openCount }),
    close() {
      reconciler.stop();
      stop();
    },
  };
}
