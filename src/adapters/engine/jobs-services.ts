/**
 * The jobs services of a gate (siblings §8). They are asked in turn, the one whose turn it is first and the others in order
 * after it; those whose last question was late come after them, and those whose last was refused or lost come last. A refused
 * or lost connection, 401, 403, 429 and 5xx go to the next address, all within one time; a bad or a late answer goes nowhere
 * else, and nothing is asked twice at once. A machine that is off or cut off refuses nothing: a question that is quiet for a
 * moment makes the gate try to connect beside it, and one that cannot be reached counts as lost.
 *
 * A look at each service, every other second and at once where it was away, is an ordinary question; it decides `/ready`, and
 * brings back a service that was passed over. Bound: one look at a time a service.
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
  readonly clock: Clock;
  readonly timers: Timers;
  /** A service can be asked again, or cannot be asked (why, one line), for the log. */
  onService(url: string, fault: string | undefined): void;
}

/** Statuses that say nothing about the question: another service may answer it. */
const isRefusal = (status: number): boolean =>
  status === 401 || status === 403 || status === 429 || (status >= 500 && status <= 599);

/** What one service made of a question. */
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
  readonly #options: JobsServicesOptions;
  readonly #services: readonly JobsService[];
  /** Cancels the next look at each. */
  readonly #looks = new Map<JobsService, () => void>();
  /** A look at them is under way. */
  readonly #looking = new Set<JobsService>();
  #turn = 0;
  /** Monotonic time of the last answer of any service. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: JobsServicesOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs;
    this.#services = options.urls.map((url) => new JobsService(url, options.token));
  }

  /** One question that failed does not decide: offers go on until a look has failed as well. */
  readonly canAsk = (): boolean => this.#services.some((service) => !service.isOut || this.#isOld(service));

  /** Whether a service answered the last question to it, or failed once and was not looked at since. False until one did. */
  readonly isReady = (): boolean =>
    this.#answeredMs > Number.NEGATIVE_INFINITY &&
    this.#services.some(({ standing, isOut }) => standing === 'well' || (standing === 'away' && !isOut));

  /** Begins to look at the services. */
  start(): void {
    for (const service of this.#services) void this.#look(service);
  }

  async ask<A>(question: RemoteQuestion<A>): Promise<RemoteAnswer<A>> {
    const { clock, timeoutMs } = this.#options;
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
    const within = `none within ${this.#options.timeoutMs} ms`;
    return { kind: 'late', detail: [within, ...faults].join('; ') };
  }

  /** Asks one service, counts the outcome, and notes whether the service can be asked. */
  async #askOne<A>(service: JobsService, question: RemoteQuestion<A>, timeoutMs: number): Promise<Asked<A>> {
    const { clock } = this.#options;
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
    const { timers } = this.#options;
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

  /** It was found away or late before another one last answered, so it may be back: services are replaced one after the other. */
  #isOld({ askedMs }: JobsService): boolean {
    return askedMs < this.#answeredMs;
  }

  #note(service: JobsService, standing: Standing, fault: string | undefined): void {
    const was = service.standing;
    if (this.#isClosed || was === standing) return;
    service.standing = standing;
    service.isOut = false;
    // The first contact is no news unless it failed.
    if (was !== 'unknown' || fault !== undefined) this.#options.onService(service.url, fault);
    if (fault !== undefined) this.#lookAfter(service, LOOK_PAUSE_AWAY_MS);
    if (this.#services.some((one) => one.standing !== 'away')) return;
    for (const one of this.#services) if (this.#isOld(one)) this.#lookAfter(one, 0);
  }

  #lookAfter(service: JobsService, pauseMs: number): void {
    this.#looks.get(service)?.();
    if (this.#isClosed) return;
    const cancel = this.#options.timers.after(pauseMs, () => {
      this.#looks.delete(service);
      void this.#look(service);
    });
    this.#looks.set(service, cancel);
  }

  async #look(service: JobsService): Promise<void> {
    if (this.#looking.has(service)) return; // its end sets the next one
    this.#looking.add(service);
    await this.#askOne(service, LOOK, this.#options.timeoutMs);
    this.#looking.delete(service);
    const isWell = service.standing === 'well';
    service.isOut = !isWell;
    // A question that failed meanwhile may have set the next look already.
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
