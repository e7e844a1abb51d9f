/**
 * What a run tries: each seed draws its own mixture, with whole families of faults left out, so that one fault does not
 * always hide behind another.
 */
import type { Chance } from '../support/chance.ts';

export interface Profile {
  readonly settlement: 'facilitator' | 'local';
  readonly signing: 'marks' | 'keys';
  /** `both`: the model of the disk and the real database side by side, compared at every start. */
  readonly disk: 'model' | 'both';
  readonly sync: 'full' | 'normal';
  /** Authorizations that buyers make. */
  readonly purchaseCount: number;
  /** Virtual time over which they come. */
  readonly spanMs: number;

  /** Kills a minute; the share of them that also takes the disk's power; and that comes at the n-th call to the outside. */
  readonly killsPerMinute: number;
  readonly powerShare: number;
  readonly stopsPerMinute: number;
  readonly reloadsPerMinute: number;
  readonly wallStepsPerMinute: number;
  /** The server's wall clock is never further from the true one. */
  readonly wallSkewMsMax: number;
  readonly stallsPerMinute: number;

  readonly diskFaultsPerMinute: number;
  readonly slowCommitShare: number;

  readonly dropShare: number;
  readonly duplicateShare: number;
  readonly lateShare: number;
  readonly goneShare: number;

  readonly facilitatorFaultShare: number;
  readonly outagesPerMinute: number;
  /** Shares of settlements that end as a lie. */
  readonly lieShare: number;
  /** What the facilitator says of a payment that has moved already. */
  readonly repeats: 'same' | 'used' | 'mixed';
  /** It looks at the balance before the nonce. */
  readonly isBalanceFirst: boolean;
  readonly thirdPartyShare: number;

  readonly payerCount: number;
  readonly poorShare: number;
  readonly callbackShare: number;
  readonly callbackCapacity: number;
  readonly retryShare: number;
  readonly resolveShare: number;
  /** Paid retries that others ask for too, with other authorizations under a mixture of the same names. */
  readonly sharedNamesShare: number;
  /** Retries that are created with a key, for each authorization. */
  readonly keyedShare: number;
  /** Hosts that do not just answer. */
  readonly targetFaultShare: number;
  readonly outboundConcurrency: number;
  readonly ratePerMinute: number;
}

export interface ProfileWishes {
  readonly purchaseCount: number;
  readonly disk?: Profile['disk'] | undefined;
  readonly signing?: Profile['signing'] | undefined;
  /** `outbound`: retries and resolves above all. */
  readonly mix?: 'any' | 'outbound' | undefined;
}

export function drawProfile(chance: Chance, wishes: ProfileWishes): Profile {
  /** On in a share of the runs, and then of one of the strengths. */
  const some = (share: number, ...strengths: number[]): number => (chance.is(share) ? chance.pick(strengths) : 0);
  const isOutbound = wishes.mix === 'outbound';
  const sync = chance.is(0.25) ? 'normal' : 'full';
  return {
    settlement: chance.is(0.2) ? 'local' : 'facilitator',
    signing: wishes.signing ?? (chance.is(0.004) ? 'keys' : 'marks'),
    disk: wishes.disk ?? (chance.is(0.03) ? 'both' : 'model'),
    sync,
    purchaseCount: wishes.purchaseCount,
    spanMs: wishes.purchaseCount * chance.pick(isOutbound ? [60, 250, 1_000] : [20, 60, 250]),
    killsPerMinute: some(0.7, 1, 4, 10),
    powerShare: sync === 'full' ? chance.pick([0, 0.5]) : 0,
    stopsPerMinute: some(0.4, 1, 4),
    reloadsPerMinute: some(0.4, 2, 20),
    wallStepsPerMinute: some(0.4, 1, 6),
    wallSkewMsMax: 280_000,
    stallsPerMinute: some(0.3, 3),
    diskFaultsPerMinute: some(0.5, 1, 5),
    slowCommitShare: some(0.4, 0.02, 0.3),
    dropShare: some(0.6, 0.02, 0.2),
    duplicateShare: some(0.7, 0.1, 0.5),
    lateShare: some(0.5, 0.05, 0.3),
    goneShare: some(0.5, 0.05, 0.3),
    facilitatorFaultShare: some(0.8, 0.05, 0.25, 0.7),
    outagesPerMinute: some(0.4, 0.5, 3),
    lieShare: some(0.12, 0.02, 0.2),
    repeats: chance.pick(['same', 'same', 'used', 'mixed']),
    isBalanceFirst: chance.is(0.3),
    thirdPartyShare: some(0.1, 0.02),
    payerCount: chance.pick([2, 5, 50]),
    poorShare: chance.pick([0, 0, 0.2, 0.6]),
    callbackShare: isOutbound ? 0.05 : chance.pick([0, 0.15, 0.4]),
    callbackCapacity: chance.pick([3, 20, 10_000]),
    retryShare: isOutbound ? 0.5 : chance.pick([0, 0.1, 0.3]),
    resolveShare: isOutbound ? 0.6 : chance.pick([0, 0.1, 0.3]),
    sharedNamesShare: isOutbound ? 0.5 : chance.pick([0, 0.5]),
    keyedShare: isOutbound ? 1 : chance.pick([0, 0.2]),
    targetFaultShare: chance.pick([0, 0.3, 0.7]),
    outboundConcurrency: chance.pick([2, 8, 64]),
    ratePerMinute: chance.is(0.8) ? 0 : chance.pick([600, 60]),
  };
}
