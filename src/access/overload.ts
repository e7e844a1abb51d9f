/**
 * Sheds new paid work while the server is overloaded (decisions §4; reliability 211, 212): 503 before the payment is read, so
 * that nothing is verified, reserved or charged. A paid route lists `unlessOverloaded` right before `paid`, a keyed route
 * lists it after the key; routes without it are never shed. Without overload the admitter reads one field.
 */
import { RETRY_AFTER_SECONDS } from '../base/overload/limits.ts';
import type { Overload } from '../base/overload/overload.ts';
import { PRESSURE_KINDS, type PressureKind } from '../base/overload/pressure.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { Access, Admitter } from '../http/access.ts';
import { OVERLOADED, type Refusal, retryAfter } from '../http/errors.ts';
import { RepeatedRefusal } from '../http/hot/repeated-refusal.ts';
import type { RequestView } from '../http/request-view.ts';
import { paymentHeader } from './payment-header.ts';

/** The services that a module needs for operations that overload sheds. */
export interface OverloadServices {
  readonly shedding: Shedding;
}

type Labels = Readonly<Record<string, string>>;

/** Counts the shed requests of one operation by reason. */
interface ShedMeter {
  readonly labels: Labels;
  readonly counts: Record<PressureKind, number>;
}

/** The overload of this server, and the counts of what it has shed. */
export class Shedding {
  readonly overload: Overload;
  readonly #meters: ShedMeter[] = [];

  constructor(overload: Overload) {
    this.overload = overload;
  }

  open(labels: Labels): ShedMeter {
    const meter = { labels, counts: { memory: 0, loop: 0 } };
    this.#meters.push(meter);
    return meter;
  }

  writeCounts(into: Exposition): void {
    for (const { labels, counts } of this.#meters) {
      for (const reason of PRESSURE_KINDS) into.sample(counts[reason], { ...labels, reason });
    }
  }
}

const UNPAID_MESSAGE = 'this server is overloaded and makes no new offers now; try again later';
const PAID_MESSAGE =
  'this server is overloaded and accepts no payments now; this request charged nothing. Send the same payment again later.';
const KEYED_MESSAGE =
  'this server is overloaded and answers no requests with an API key now; nothing was charged. Try again later.';

const refusalsWith = (message: string): Record<PressureKind, Refusal> => {
  const headers = retryAfter(RETRY_AFTER_SECONDS);
  const refusalFor = (kind: PressureKind): Refusal =>
    new RepeatedRefusal(OVERLOADED, message, { headers, detail: kind });
  return { memory: refusalFor('memory'), loop: refusalFor('loop') };
};

class OverloadAdmitter implements Admitter {
  readonly #overload: Overload;
  readonly #meter: ShedMeter;
  readonly #unpaid = refusalsWith(UNPAID_MESSAGE);
  readonly #paid = refusalsWith(PAID_MESSAGE);
  readonly #keyed = refusalsWith(KEYED_MESSAGE);

  constructor(overload: Overload, meter: ShedMeter) {
    this.#overload = overload;
    this.#meter = meter;
  }

  admit(request: RequestView, principal: object): Refusal | undefined {
    return this.#overload.level === 0 ? undefined : this.#decide(request, 'keyId' in principal);
  }

  #decide(request: RequestView, isKeyed: boolean): Refusal | undefined {
    const refusals = isKeyed ? this.#keyed : paymentHeader(request) === undefined ? this.#unpaid : this.#paid;
    const { level, kind } = this.#overload;
    if (refusals !== this.#unpaid && level === 1) return undefined;
    this.#meter.counts[kind]++;
    return refusals[kind];
  }
}

export const unlessOverloaded: Access<object, OverloadServices> = {
  errors: [OVERLOADED],
  documentation: {},
  open: ({ shedding }, { operation }, { labels }) =>
    new OverloadAdmitter(shedding.overload, shedding.open({ operation, ...labels })),
};
