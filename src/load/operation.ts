/** One kind of request: what the pacing asks of it, and how it sends, judges and records. */
import type { Clock } from '../base/clock.ts';
import type { Answer, Reply } from './connection.ts';
import type { Kind } from './mix.ts';
import type { Pool } from './pool.ts';
import type { Recorder } from './recorder.ts';
import { outcomeOf, type Requests } from './requests.ts';

/**
 * `ready`    the next request can be sent now
 * `unsigned` the next request waits for the generator's own signing threads
 * `busy`     the next request waits for answers to earlier ones
 * `used-up`  this run has no further request of the kind
 */
export type SendReadiness = 'ready' | 'unsigned' | 'busy' | 'used-up';

/** How a request ended. `broken`: its connection failed, so a closed loop pauses before it sends the next one. */
export type Ending = 'answered' | 'broken';

export interface Operation {
  readiness(): SendReadiness;
  /** Sends the next request. Call it only when ready and while the pool has room. @param plannedMs when the request was due */
  start(plannedMs: number, onEnd: (ending: Ending) => void): void;
}

/** What the operations of a run share. */
export interface Run {
  readonly pool: Pool;
  readonly requests: Requests;
  readonly clock: Clock;
  readonly recorder: Recorder;
}

/** Outcome of an answer, and whether the scenario expects it. */
export interface Verdict {
  readonly outcome: string;
  readonly isExpected: boolean;
}

/** @param faultOf a fault of an answer that has the expected status, or undefined */
export const verdictOn = (answer: Answer, expectedStatus: number, faultOf: () => string | undefined): Verdict => {
  const outcome = outcomeOf(answer);
  if (answer.status !== expectedStatus) return { outcome, isExpected: false };
  const fault = faultOf();
  return fault === undefined ? { outcome, isExpected: true } : { outcome: `${outcome} ${fault}`, isExpected: false };
};

/** One request of a run. */
export interface Sending {
  readonly kind: Kind;
  readonly request: string;
  /** When it was due. */
  readonly plannedMs: number;
  judge(answer: Answer): Verdict;
  onEnd(ending: Ending, reply: Reply): void;
}

/** Sends a request and records its outcome. */
export function send({ pool, clock, recorder }: Run, { kind, request, plannedMs, judge, onEnd }: Sending): void {
  pool.send(request, (reply) => {
    const doneMs = clock.monotonicMs();
    if (reply.kind === 'failure') recorder.record(kind, reply.code, false, plannedMs, doneMs);
    else {
      const { outcome, isExpected } = judge(reply);
      recorder.record(kind, outcome, isExpected, plannedMs, doneMs);
    }
    onEnd(reply.kind === 'failure' ? 'broken' : 'answered', reply);
  });
}
