/**
 * The jobs services of a gate (siblings §8). They are asked round robin; services whose last question was late come
 * after the others, and those whose last was refused or lost come last. After a refused or lost connection, 401, 403,
 * 429 or 5xx the next address is asked, all within one time limit; a bad or late answer is final, and a question is
 * never in two places at once. A machine that is off or cut off refuses nothing, so when a question gets no answer for
 * a moment the gate tries a second connection; if that fails, the question counts as lost.
 *
 * The gate looks at each service with an ordinary question, every other second, and at once when the service was away;
 * the looks decide `/ready` and bring back a service that was passed over. Bound: one look at a time for each service.
 */
import type { Clock } from '../../base/clock.ts';
import type { Exposition } from '../../base/prometheus.ts';
import type { Timers } from '../../base/timers.ts';
import type { RemoteAnswer, RemoteCatalogue, RemoteQuestion } from '../../catalogue/remote-catalogue.ts';
import { LOOK_PAUSE_AWAY_MS, LOOK_PAUSE_MS, QUIET_MS, REACH_MS } from './limits.ts';
import { JobsService, type Outcome, rankOf, type Standing } from './service.ts';

export interface JobsServicesOptions {
  /** Base addresses, no trailing slash, at least one. */
  readonly urls: readonly string[];
  readonly token: string;
  /** For one question, all services together. */
  readonly timeoutMs: number;
}

export interface JobsServicesPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A jobs service became unreachable (why, one line) or reachable again (undefined). */
  onJobsService?(url: string, fault: string | undefined): void;
}

/** Statuses that say nothing about the question: another service may answer it. */
const isRefusal = (status: number): boolean =>
  status === 401 || status === 403 || status === 429 || (status >= 500 && status <= 599);

/** The outcome of asking one service. */
type Asked<A> =
  | Exclude<RemoteAnswer<A>, { kind: 'unavailable' }>
  | { readonly kind: 'next'; readonly outcome: 'lost' | 'refused'; readonly detail: string };

/** A question that every jobs service with a catalogue answers. */
const LOOK: RemoteQuestion<true> = {
  path: '/v1/jobs/search',
  query: 'limit=1',
  read: (status) => (status === 200 ? true : undefined),
};

export class JobsServices implements RemoteCatalogue {
  readonly timeoutMs: number;
  readonly #ports: JobsServicesPorts;
  readonly #services: readonly JobsService[];
  /** Cancels the next look at each. */
  readonly #looks = new Map<JobsService, () => void>();
  /** Services at which a look is under way. */
  readonly #looking = new Set<JobsService>();
  #turn = 0;
  /** Monotonic time of the last answer of any service. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ urls, token, timeoutMs }: JobsServicesOptions, ports: JobsServicesPorts) {
    this.#ports = ports;
    this.timeoutMs = timeoutMs;
    this.#services = urls.map((url) => new JobsService(url, token));
  }

  /** One failed question does not decide: offers continue until a look has failed as well. */
  readonly canAsk = (): boolean => this.#services.some((service) => !service.isOut || this.#isOld(service));

  /**
   * Whether any service answered its last question, or failed once and was not looked at since. False before the first answer.
   */
  readonly isReady = (): boolean =>
    this.#answeredMs > Number.NEGATIVE_INFINITY &&
    this.#services.some(({ standing, isOut }) => standing === 'well' || (standing === 'away' && !isOut));

  /** Begins to look at the services. */
  start(): void {
    for (const service of this.#services) void this.#look(service);
  }

  async ask<A>(question: RemoteQuestion<A>): Promise<RemoteAnswer<A>> {
    const { timeoutMs } = this;
    const { clock } = this.#ports;
    const endMs = clock.monotonicMs() + timeoutMs;
    const faults: string[] = [];
    for (const service of this.#inTurn()) {
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return this.#late(faults);
      const asked = await this.#askOne(service, question, leftMs);
      if (asked.kind === 'late') return this.#late([...faults, `${service.url}: no answer`]);
      if (asked.kind !== 'next') return asked;
      faults.push(`${service.url}: ${asked.detail}`);
    }
    return { kind: 'unavailable', detail: faults.join('; ') };
  }

  metrics(page: Exposition): void {
    page.family('paygrade_engine_requests_total', 'counter', 'Questions to jobs services by address and outcome.');
    for (const service of this.#services) service.writeCounts(page);
    page.family('paygrade_engine_request_duration_seconds', 'histogram', 'Time of questions to jobs services.');
    for (const service of this.#services) service.writeDurations(page);
    page.family('paygrade_engine_service_up', 'gauge', 'Whether a jobs service answered the last question to it.');
    for (const { url, standing } of this.#services) page.sample(standing === 'well' ? 1 : 0, { address: url });
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#looks.values()) cancel();
    for (const { connections } of this.#services) connections.close();
  }

  #inTurn(): readonly JobsService[] {
    const all = this.#services;
    const first = this.#turn++ % all.length;
    // The sort is stable.
    return [...all.slice(first), ...all.slice(0, first)].sort((a, b) => rankOf(a) - rankOf(b));
  }

  #late(faults: readonly string[]): RemoteAnswer<never> {
    const within = `none within ${this.timeoutMs} ms`;
    return { kind: 'late', detail: [within, ...faults].join('; ') };
  }

  /** Asks one service, counts the outcome, and notes whether the service can be asked. */
  async #askOne<A>(service: JobsService, question: RemoteQuestion<A>, timeoutMs: number): Promise<Asked<A>> {
    const { clock } = this.#ports;
    const startMs = clock.monotonicMs();
    const asked = await this.#exchange(service, question, timeoutMs);
    const endMs = clock.monotonicMs();
    service.count(outcomeOf(asked), endMs - startMs);
    service.askedMs = startMs;
    if (asked.kind === 'next') this.#note(service, 'away', asked.detail);
    else if (asked.kind === 'late') this.#note(service, 'late', `no answer within ${Math.round(timeoutMs)} ms`);
    else {
      this.#answeredMs = endMs;
      this.#note(service, 'well', undefined);
    }
    return asked;
  }

  async #exchange<A>(
    service: JobsService,
    { path, query, read }: RemoteQuestion<A>,
    timeoutMs: number,
  ): Promise<Asked<A>> {
    const { url } = service;
    const exchange = service.connections.get(`/internal${path}${query === '' ? '' : `?${query}`}`);
    let ended: 'done' | 'late' | 'unreachable' | undefined;
    const end = (how: 'late' | 'unreachable'): void => {
      if (ended !== undefined) return;
      ended = how;
      exchange.abort();
    };
    const { timers } = this.#ports;
    const cancelLate = timers.after(timeoutMs, () => end('late'));
    const reachMs = Math.min(REACH_MS, timeoutMs / 2);
    const cancelQuiet = timers.after(Math.min(QUIET_MS, timeoutMs / 4), async () => {
      if (!(await service.isReachable(reachMs))) end('unreachable');
    });
    const exchanged = await exchange.done;
    ended ??= 'done';
    cancelLate();
    cancelQuiet();
    if (ended === 'late') return { kind: 'late', detail: 'no answer' };
    if (ended === 'unreachable') {
      return { kind: 'next', outcome: 'lost', detail: `no connection within ${Math.round(reachMs)} ms` };
    }
    if (exchanged.kind === 'lost') return { kind: 'next', outcome: 'lost', detail: exchanged.detail };
    if (exchanged.kind === 'unusable') return { kind: 'invalid', detail: `${url}: ${exchanged.detail}` };
    const { status, text } = exchanged;
    if (isRefusal(status)) return { kind: 'next', outcome: 'refused', detail: `status ${status}` };
    if (status !== 200 && status !== 404) return { kind: 'invalid', detail: `${url}: status ${status}` };
    const answer = read(status, text);
    if (answer !== undefined) return { kind: 'answer', answer };
    return { kind: 'invalid', detail: `${url}: a body that is no answer of ${path}, status ${status}` };
  }

  /**
   * It was found away or late before another service last answered, so it may be back: in a rollout, services restart
   * one after the other.
   */
  #isOld({ askedMs }: JobsService): boolean {
    return askedMs < this.#answeredMs;
  }

  #note(service: JobsService, standing: Standing, fault: string | undefined): void {
    const was = service.standing;
    if (this.#isClosed || was === standing) return;
    service.standing = standing;
    service.isOut = false;
    // A first contact is not reported unless it failed.
    if (was !== 'unknown' || fault !== undefined) this.#ports.onJobsService?.(service.url, fault);
    if (fault !== undefined) this.#lookAfter(service, LOOK_PAUSE_AWAY_MS);
    if (this.#services.some((one) => one.standing !== 'away')) return;
    for (const one of this.#services) if (this.#isOld(one)) this.#lookAfter(one, 0);
  }

  #lookAfter(service: JobsService, pauseMs: number): void {
    this.#looks.get(service)?.();
    if (this.#isClosed) return;
    const cancel = this.#ports.timers.after(pauseMs, () => {
      this.#looks.delete(service);
      void this.#look(service);
    });
    this.#looks.set(service, cancel);
  }

  async #look(service: JobsService): Promise<void> {
    if (this.#looking.has(service)) return; // its end schedules the next one
    this.#looking.add(service);
    await this.#askOne(service, LOOK, this.timeoutMs);
    this.#looking.delete(service);
    const isWell = service.standing === 'well';
    service.isOut = !isWell;
    // A question that failed meanwhile may have scheduled the next look already.
    if (!this.#looks.has(service)) this.#lookAfter(service, isWell ? LOOK_PAUSE_MS : LOOK_PAUSE_AWAY_MS);
  }
}

function outcomeOf(asked: Asked<unknown>): Outcome {
  switch (asked.kind) {
    case 'answer':
      return 'answered';
    case 'next':
      return asked.outcome;
    case 'invalid':
    case 'late':
      return asked.kind;
    default:
      return asked satisfies never;
  }
}
