/**
 * Joins what taking money needs, as the configuration says: recipient, reservations, settlement and its reconciler. One for
 * the whole server, shared by every paid route.
 */
import { HttpFacilitator } from './adapters/facilitator-http.ts';
import { throwawayPayee } from './adapters/payee-file.ts';
import { systemTimers } from './adapters/system-timers.ts';
import type { Clock } from './base/clock.ts';
import type { Random } from './base/random.ts';
import { type Config, ConfigError, IN_MEMORY } from './config.ts';
import type { Till } from './gates/x402.ts';
import { LocalLedger } from './payment/ledger.ts';
import { Reconciler, type Resolution } from './payment/reconciler.ts';
import { MemoryReservations } from './payment/reservations.ts';
import type { Settlement } from './payment/settlement.ts';
import { recoverWithNoble } from './payment/signature.ts';

export interface OpenTill {
  /** What the gates of the paid routes share. */
  readonly gate: Till;
  /** Whether a payment can be settled now. */
  settlementReady(): boolean;
  /** What the operator must be told at start. */
  readonly notices: readonly string[];
  close(): void;
}

const SERVICE_NAME = 'paygrade';

interface OpenSettlement {
  readonly settlement: Settlement;
  isReachable(): boolean;
  stop(): void;
}

function openSettlement(config: Config, clock: Clock): OpenSettlement {
  if (config.settlement === 'local') {
    return { settlement: new LocalLedger(config.localBalanceAtomic, clock), isReachable: () => true, stop: () => {} };
  }
  if (config.facilitatorUrl === null) throw new ConfigError('FACILITATOR_URL is required with SETTLEMENT=facilitator');
  const { facilitatorUrl: url, facilitatorToken: token } = config;
  const settlement = new HttpFacilitator({ url, token, clock, timers: systemTimers });
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
  notices.push('used payments are kept in memory: they are forgotten when this process ends');
  return notices;
}

/** @throws ConfigError or Error, one line, when the configured parts cannot be made */
export function openTill(
  config: Config & { readonly baseUrl: string },
  clock: Clock,
  random: Random,
  onResolution: (resolution: Resolution) => void,
): OpenTill {
  const stateDir = config.stateDir === IN_MEMORY ? null : config.stateDir;
  const payTo = config.payTo ?? throwawayPayee(stateDir, random);
  const reservations = new MemoryReservations(clock);
  const { settlement, isReachable, stop } = openSettlement(config, clock);
  const reconciler = new Reconciler({ settlement, reservations, clock, timers: systemTimers, onResolution });
  return {
    gate: {
      baseUrl: config.baseUrl,
      payTo,
      serviceName: SERVICE_NAME,
      reservations,
      settlement,
      reconciler,
      recover: recoverWithNoble,
      clock,
    },
    settlementReady: isReachable,
    notices: noticesOf(config),
    close() {
      reconciler.stop();
      stop();
    },
  };
}
