/**
 * What `serve` reports to its operator on stderr, at start and at each reload: lines for people when stdout is a
 * terminal, else one JSON object a line, as in the request log, so that a collector of both streams reads only JSON.
 * The log level does not hide them. `listening on http://HOST:PORT` is not one of them (decisions §2).
 */
import { DEMO_CREDITS, DEMO_ORGANIZATION } from '../accounts/organization.ts';
import type { Clock } from '../base/clock.ts';
import { grouped } from '../base/grouped.ts';
import { isoTime } from '../base/iso-time.ts';
import { printableLines } from '../base/printable.ts';
import type { CatalogueHolder } from '../catalogue/holder.ts';
import type { Io } from './io.ts';

export interface Started {
  readonly version: string;
  readonly processId: number;
  /** Address of the reference; undefined: the server has none. */
  readonly docs: string | undefined;
  readonly catalogue: CatalogueFacts | undefined;
}

/** Facts about the served catalogue. */
export interface CatalogueFacts {
  readonly activeJobs: number;
  /** With a job, active or closed. */
  readonly companies: number;
}

/** undefined: the server has no catalogue. */
export function catalogueFactsOf(holder: Pick<CatalogueHolder, 'current'>): CatalogueFacts | undefined {
  const snapshot = holder.current()?.catalogue.snapshot;
  return snapshot && { activeJobs: snapshot.activeCount, companies: snapshot.companyCount };
}

const countsText = (facts: CatalogueFacts | undefined): string =>
  facts === undefined
    ? 'no catalogue'
    : `${grouped(facts.activeJobs)} active ${facts.activeJobs === 1 ? 'job' : 'jobs'}, ` +
      `${grouped(facts.companies)} ${facts.companies === 1 ? 'company' : 'companies'}`;

const countsOf = (facts: CatalogueFacts | undefined): Readonly<Record<string, number>> =>
  facts === undefined ? {} : { active_jobs: facts.activeJobs, companies: facts.companies };

/** By whether the previous catalogue's file is unchanged. */
const RELOAD_FAILED = {
  true: 'catalogue reload failed; still serving the previous one',
  false: 'catalogue reload failed, and the previous one was overwritten in place: what its file holds is refused',
  none: 'catalogue reload failed; no catalogue is served until one can be loaded',
};

export class OperatorLines {
  readonly #write: (text: string) => void;
  readonly #isForPeople: boolean;
  readonly #clock: Clock;
  readonly #programWords: string;

  constructor({ stdout, stderr, clock, programWords }: Io) {
    this.#write = (text) => stderr.write(text);
    this.#isForPeople = stdout.isTerminal;
    this.#clock = clock;
    this.#programWords = programWords;
  }

  /** Reports a configuration that a server for real money should not have. */
  notice(text: string): void {
    this.#line(text, 'warn', { message: text });
  }

  started({ version, processId, docs, catalogue }: Started): void {
    const reference = docs === undefined ? '' : ` reference: ${docs};`;
    this.#line(
      `paygrade ${version}, pid ${processId}: ${countsText(catalogue)};${reference} ` +
        `\`kill -HUP ${processId}\` or \`${this.#programWords} reload\` loads the catalogue again`,
      'info',
      { message: 'the server has started', version, pid: processId, ...countsOf(catalogue), docs },
    );
    this.#noteEmpty(catalogue);
  }

  /** The key of the organization that this start created: shown once here, never in the request log. */
  demoKey(key: string): void {
    const message = `key of the organization ${DEMO_ORGANIZATION}, shown once`;
    this.#line(`${message} (${grouped(DEMO_CREDITS)} credits, with SETTLEMENT=local only): ${key}`, 'info', {
      message,
      organization: DEMO_ORGANIZATION,
      credits: DEMO_CREDITS,
      key,
    });
  }

  reloaded(catalogue: CatalogueFacts | undefined): void {
    const message = 'the catalogue was reloaded';
    this.#line(`${message}: ${countsText(catalogue)}`, 'info', { message, ...countsOf(catalogue) });
    this.#noteEmpty(catalogue);
  }

  /** @param isReadable whether the previous catalogue's file is unchanged; undefined: there is no previous catalogue */
  reloadFailed(reason: string, isReadable: boolean | undefined): void {
    const message = RELOAD_FAILED[`${isReadable ?? 'none'}`];
    this.#line(`${message}: ${reason}`, 'error', { message, reason });
  }

  /** Reports a fault of a fetched catalogue. @param fault names the address or the copy, and the outcome */
  snapshotFault(fault: string): void {
    const message = `SNAPSHOT: ${fault}`;
    this.#line(message, 'error', { message });
  }

  #noteEmpty(catalogue: CatalogueFacts | undefined): void {
    if (catalogue?.activeJobs === 0) this.notice('the catalogue has no active job: customers pay for empty answers');
  }

  #line(text: string, level: 'info' | 'warn' | 'error', facts: Readonly<Record<string, unknown>>): void {
    const time = isoTime(this.#clock.nowMs());
    this.#write(`${this.#isForPeople ? text : printableLines(JSON.stringify({ time, level, ...facts }))}\n`);
  }
}
