/** What a run of several processes tries: each seed draws its own mixture, with whole families of faults left out. */
import type { Chance } from '../../support/chance.ts';
import { drawProfile, type Profile } from '../profile.ts';

/** Shares of statements, each of another fate. */
export interface StatementFaults {
  /** The connection breaks before the database has the statement. */
  readonly lost: number;
  /** It is carried out and committed, and the connection breaks before the acknowledgement. */
  readonly unacknowledged: number;
  /** No answer comes; it is carried out, or it is not. */
  readonly silent: number;
  /** The connection breaks, and the statement is carried out up to seconds later. */
  readonly late: number;
  /** The answer takes up to seconds. */
  readonly slow: number;
  /** The database refuses it, by errors that change nothing. */
  readonly refused: number;
}

export interface SharedProfile {
  readonly settlement: 'facilitator' | 'local';
  readonly gateCount: number;
  /** Authorizations that buyers make, and the virtual time over which they come. */
  readonly purchaseCount: number;
  readonly spanMs: number;
  readonly statements: StatementFaults;
  /** Share of the hints that are lost. */
  readonly hintLossShare: number;
  readonly killsPerMinute: number;
  readonly stopsPerMinute: number;
  readonly stallsPerMinute: number;
  /** Share of the settlements before whose sending the process stands still, too late to look at its lease again. */
  readonly stalledSendShare: number;
  /** The machine of a process is suspended, and its clocks stand still as well. */
  readonly suspensionsPerMinute: number;
  /** The wall clock of one process is set wrong. */
  readonly wallStepsPerMinute: number;
  /** The clock of the database is set wrong, by at most this. */
  readonly databaseStepsPerMinute: number;
  readonly databaseStepMsMax: number;
  /** One process loses the database, and the others do not. */
  readonly partitionsPerMinute: number;
  /** Of the database (wire.ts). */
  readonly outagesPerMinute: number;
  /** Most connections of one process. */
  readonly connectionCount: number;
  /** Clocks of processes are off the database's by at most this. */
  readonly skewMsMax: number;
  readonly callbackShare: number;
  readonly copiesShare: number;
  readonly poorShare: number;
  /** Share of the purchases that have a payment identifier; of those of retries, an idempotency key or both. */
  readonly namedShare: number;
  /** Share of those whose transaction is never mined, so that they end as dead. */
  readonly neverMinedShare: number;
  readonly retryShare: number;
  /** Crowds, for each purchase that comes alone. */
  readonly crowdShare: number;
  /** A process dies with purchases under way just before faults stop. */
  readonly diesLast: boolean;
  /** The facilitator's part. */
  readonly outside: Profile;
}

const HOUR_MS = 3_600_000;
const NO_FAULTS: StatementFaults = { lost: 0, unacknowledged: 0, silent: 0, late: 0, slow: 0, refused: 0 };

export function drawSharedProfile(chance: Chance, purchaseCount: number): SharedProfile {
  const some = (share: number, ...strengths: number[]): number => (chance.is(share) ? chance.pick(strengths) : 0);
  const drawn = drawProfile(chance.fork(), { purchaseCount, disk: 'model', signing: 'marks' });
  const statements: StatementFaults = {
    lost: some(0.6, 0.01, 0.05),
    unacknowledged: some(0.8, 0.01, 0.05, 0.2),
    silent: some(0.4, 0.002, 0.01),
    late: some(0.5, 0.01, 0.05),
    slow: some(0.4, 0.02, 0.1),
    refused: some(0.5, 0.01, 0.05),
  };
  const databaseStepMsMax = chance.is(0.25) ? chance.pick([3_000, HOUR_MS]) : 0;
  return {
    settlement: chance.is(0.5) ? 'local' : 'facilitator',
    gateCount: chance.pick([2, 3, 3, 5]),
    purchaseCount,
    spanMs: purchaseCount * chance.pick([20, 60, 200]),
    statements: chance.is(0.1) ? NO_FAULTS : statements,
    hintLossShare: chance.pick([0, 0, 0.3, 1]),
    killsPerMinute: some(0.6, 4, 12),
    stopsPerMinute: some(0.4, 1, 3),
    stallsPerMinute: some(0.4, 1, 3),
    stalledSendShare: some(0.5, 0.02, 0.06),
    suspensionsPerMinute: some(0.4, 1, 3),
    wallStepsPerMinute: some(0.3, 2, 6),
    databaseStepsPerMinute: databaseStepMsMax === 0 ? 0 : 3,
    databaseStepMsMax,
    partitionsPerMinute: some(0.4, 1, 3),
    outagesPerMinute: some(0.6, 2, 8),
    connectionCount: chance.pick([3, 16, 16]),
    skewMsMax: chance.pick([0, 300, 800]),
    // The database's clock says when callbacks and kept answers end.
    callbackShare: databaseStepMsMax > 0 ? 0 : chance.pick([0, 0.1, 0.3]),
    copiesShare: chance.pick([0.2, 0.6, 1]),
    poorShare: chance.pick([0, 0, 0.2]),
    namedShare: databaseStepMsMax === HOUR_MS ? 0 : chance.pick([0, 0.2, 0.5]),
    neverMinedShare: chance.named('never mined').pick([0, 0.1, 0.3]),
    retryShare: chance.pick([0, 0, 0.1, 0.2]),
    diesLast: chance.named('last').is(0.5),
    crowdShare: chance.named('crowds').pick([0, 0, 0.04, 0.12]),
    outside: {
      ...drawn,
      facilitatorFaultShare: some(0.6, 0.05, 0.2),
      outagesPerMinute: 0,
      lieShare: 0,
      thirdPartyShare: 0,
      repeats: 'same',
    },
  };
}
