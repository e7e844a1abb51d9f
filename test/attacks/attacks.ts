/** All attacks over the network by name, and what their intensity counts. */
import { Disguises } from './addresses.ts';
import type { Attack } from './attack.ts';
import { OrdinaryReaders, PipelinedReads, UnreadReads } from './heavy-reads.ts';
import { ContractSignatures, EmptyWallet, ForgedCreations, UnpaidCreations } from './payments.ts';
import { StoppedBodies } from './stopped-bodies.ts';
import { UnreadPipelines } from './unread-pipelines.ts';

export const ATTACKS = {
  /** Sockets. */
  'unread pipelines': (intensity) => new UnreadPipelines(intensity),
  /** Reads in the pipeline. */
  'pipelined reads': (intensity) => new PipelinedReads(intensity),
  /** Connections. */
  'unread reads': (intensity) => new UnreadReads(intensity),
  /** Readers. */
  'ordinary readers': (intensity) => new OrdinaryReaders(intensity),
  /** Creations a second. */
  'empty wallet': (intensity) => new EmptyWallet(intensity),
  'unpaid creations': (intensity) => new UnpaidCreations(intensity),
  'forged creations': (intensity) => new ForgedCreations(intensity),
  /** Payments a second. */
  'failing contract signatures': (intensity) => new ContractSignatures(intensity, 'is answered 503'),
  'hanging contract signatures': (intensity) => new ContractSignatures(intensity, 'hangs'),
  /** Requests a second for each disguise. */
  disguises: (intensity) => new Disguises(intensity),
  /** Callbacks, of 30 posts each. */
  'stopped bodies': (intensity) => new StoppedBodies(intensity),
} as const satisfies Record<string, (intensity: number) => Attack>;

export type AttackName = keyof typeof ATTACKS;

export interface AttackOrder {
  readonly name: AttackName;
  readonly intensity: number;
}
