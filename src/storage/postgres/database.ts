/**
 * Runs statements on the database that processes share (siblings §9), and knows whether it can be used now.
 *
 * Every statement that goes through {@link Database.run} can be repeated: it names its attempt or is idempotent. So it is
 * repeated here after a deadlock, a serialization failure or a lost connection, within {@link PATIENCE_MS}. A statement still
 * unanswered then is in doubt ({@link InDoubtError}), unless it was never sent ({@link DatabaseAwayError}).
 *
 * From the first failure to reach the database until a probe or a repeat succeeds, {@link Database.fault} says why, and
 * statements without patience fail at once, before they reserve anything. The same holds while its tables are refused
 * ({@link Database.refuse}). While the schema lacks something ({@link Database.watchWith}) or the disk is full, nothing is sold, but
 * statements go on: reads are answered.
 * Cost: one pool of connections, one probe at a time, no timer of its own while all is well.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import { firstLineOf } from '../../base/failure.ts';
import { Pauses } from '../../base/pauses.ts';
import type { Timers } from '../../base/timers.ts';
import { CLOCK_PROBE, ClockSkew } from './clock-skew.ts';
import type { CheckConnection, Connection, Connections, Row, Statement } from './connections.ts';
import {
  AttemptError,
  DatabaseAwayError,
  errorOf,
  failureKindOf,
  LackError,
  type Stage,
  type StatementError,
  unjudgedKindOf,
} from './failures.ts';
import { findRoom } from './room.ts';
import { inTransaction, type Query } from './transaction.ts';

/** How long a statement is repeated at most. */
export const PATIENCE_MS = 4000;
/**
 * A try whose answer was lost may be carried out this much later, even after its repeat; until then, looks free what it took.
 */
export const LATE_MS = 2 * MINUTE_MS;
/** Repeats after a deadlock or a serialization failure, which need no wait. */
const CONFLICTS_MAX = 20;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 500;
/** How long {@link Database.close} waits for connections at most. */
const END_MS = 1000;
const PROBE_PAUSE_MS = 250;
/** A slower probe means that the database cannot be used. */
const PROBE_MS = 2000;

export interface DatabasePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called when the database becomes unusable (why, one line) or usable again (undefined). */
  onStateFault(fault: string | undefined): void;
}

export interface RunOptions {
  /** True: waits for a database already known to be away as long as for one lost during the statement. */
  readonly isPatient?: boolean;
  /** Called before repeating a try that may have been carried out because its answer was lost. */
  readonly onDoubt?: () => void;
}

/** What the schema lacks of what the process needs (wholeness.ts). */
export interface Watch {
  /** As the last look found it; undefined = nothing is missing. */
  readonly fault: string | undefined;
  /** @param hasBeenWhole a statement has failed for want of something once more after a look that found nothing missing */
  look(query: Query, hasBeenWhole?: boolean): Promise<void>;
}

const isLacking = (failure: unknown): boolean => failure instanceof AttemptError && failure.kind === 'lacking';
const unusable = (failure: unknown): string => `the database cannot be used: ${firstLineOf(failure)}`;

export class Database {
  readonly #connections: Connections;
  readonly #ports: DatabasePorts;
  #probe: Statement = CLOCK_PROBE;
  #onProbed: (row: Row, sentMs: number) => void = () => {};
  #outage: string | undefined;
  /** Why there is too little room: from a statement that found the disk full on, until a probe {@link findRoom finds room}. */
  #full: string | undefined;
  #refusal: string | undefined;
  #watch: Watch | undefined;
  readonly #skew: ClockSkew;
  /** The fault that was reported last. */
  #reported: string | undefined;
  #isProbing = false;
  #cancelProbe = (): void => {};
  #probing: Promise<void> | undefined;
  /** Before repeats; a probe that succeeds ends them. */
  readonly #pauses: Pauses;
  #isEnding = false;
  #isClosed = false;
  #statementCount = 0;
  /** Number of the latest statement that succeeded; they are numbered as they are sent. */
  #succeeded = 0;

  constructor(connections: Connections, ports: DatabasePorts) {
    this.#connections = connections;
    this.#ports = ports;
    this.#skew = new ClockSkew(ports.clock);
    this.#pauses = new Pauses(ports.timers);
  }

  /** Why the database cannot be used now; undefined = it can. */
  fault(): string | undefined {
    const lasting = this.#lasting();
    if (lasting !== undefined) return lasting;
    const step = this.#skew.step();
    if (step !== undefined) this.#probeLater();
    return step;
  }

  #lasting(): string | undefined {
    return this.#outage ?? this.#refusal ?? this.#full ?? this.#watch?.fault ?? this.#skew.fault;
  }

  /**
   * Refuses statements without patience although the database answers; probes and transactions go on, by which this may end.
   * @param why undefined = its tables can be used again
   */
  refuse(why: string | undefined): void {
    if (this.#isClosed) return;
    this.#refusal = why;
    this.#report();
  }

  /** Statements that were sent, with repeats; thus the number of the latest one. */
  get statementCount(): number {
    return this.#statementCount;
  }

  /**
   * The statement that shows that the database can be used; its row has `now_ms`. It may write.
   * @param onProbed called with the row and the monotonic time of sending, before the database counts as usable again
   */
  probeWith(statement: Statement, onProbed: (row: Row, sentMs: number) => void = () => {}): void {
    this.#probe = statement;
    this.#onProbed = onProbed;
  }

  /** @param watch looks when a statement fails for want of something, and with each probe until nothing is missing */
  watchWith(watch: Watch): void {
    this.#watch = watch;
  }

  /** @param check runs on each connection that is opened from now on, before its first statement */
  checkEach(check: CheckConnection): void {
    this.#connections.checkEach?.(check);
  }

  /**
   * Runs a repeatable statement as a transaction.
   * @throws StatementError the statement failed and changed nothing
   * @throws DatabaseAwayError it changed nothing
   * @throws InDoubtError it may have taken effect
   */
  async run(statement: Statement, { isPatient = false, onDoubt }: RunOptions = {}): Promise<readonly Row[]> {
    const away = this.#outage ?? this.#refusal;
    if (!isPatient && away !== undefined) throw new DatabaseAwayError(away);
    const untilMs = this.#ports.clock.monotonicMs() + PATIENCE_MS;
    let conflictCount = 0;
    let pauseMs = PAUSE_MS;
    let doubt: Error | undefined;
    let isRepeat = false;
    let hasBeenWhole = false;
    for (;;) {
      try {
        const rows = await this.#attempt(statement, isRepeat);
        if (isRepeat) this.#noteUsable();
        return rows;
      } catch (failure) {
        const { kind, error } = await this.#judged(failure, hasBeenWhole);
        hasBeenWhole ||= kind === 'again' && isLacking(failure);
        if (kind === 'refused' || ((kind === 'lacking' || kind === 'full') && !isPatient)) throw doubt ?? error;
        if (kind === 'lost') {
          doubt = error;
          onDoubt?.();
        }
        if (kind === 'again' && ++conflictCount > CONFLICTS_MAX) throw doubt ?? error;
        // One lost connection says nothing about the database, so another is tried at once.
        const isAtOnce = kind === 'again' || (kind === 'lost' && !isRepeat);
        if (!isAtOnce) {
          if (this.#isEnding || this.#ports.clock.monotonicMs() + pauseMs > untilMs) throw doubt ?? error;
          await this.#pauses.wait(pauseMs);
          pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
        }
        isRepeat = true;
      }
    }
  }

  /**
   * Runs several statements as one transaction on one connection; repeats it as a whole after a deadlock or
   * serialization failure.
   * @throws InDoubtError the commit was sent and not confirmed
   */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    let hasBeenWhole = false;
    for (let conflictCount = 0; ; conflictCount++) {
      try {
        const connection = await this.#connected();
        const send = (statement: Statement, stage: Stage) => this.#send(connection, statement, stage, true);
        return await inTransaction(connection, send, work);
      } catch (failure) {
        const { kind, error } = await this.#judged(failure, hasBeenWhole);
        if (kind !== 'again' || conflictCount >= CONFLICTS_MAX) throw error;
        hasBeenWhole ||= isLacking(failure);
      }
    }
  }

  /**
   * A connection outside the statement pool, which the caller releases. A failure here does not mark the database as away.
   */
  connect(): Promise<Connection> {
    return this.#connections.connect(true);
  }

  /** Resolves after this time, or earlier once a probe has succeeded. */
  pause(pauseMs: number): Promise<void> {
    return this.#pauses.wait(pauseMs);
  }

  /**
   * Probes the database once.
   * @returns whether the database accepts writes, as far as the probe shows: a stand-by does not
   * @throws DatabaseAwayError, StatementError or InDoubtError
   */
  async probe(): Promise<boolean> {
    const watch = this.#watch;
    if (watch?.fault !== undefined) await this.#ask((query) => watch.look(query));
    const sent = this.#skew.now();
    const rows = await this.#ask((query) => query(this.#probe));
    this.#skew.note(sent, Number(rows[0]?.now_ms));
    if (rows[0] !== undefined) this.#onProbed(rows[0], sent.monotonicMs);
    this.#noteUsable();
    this.#report();
    return rows[0]?.read_only !== 'on';
  }

  /** The last probe that the database sent by itself; never rejects. None follows {@link endWaits}. */
  get probing(): Promise<void> | undefined {
    return this.#probing;
  }

  /** Does a part of a probe. */
  async #ask<T>(part: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await part((statement) => this.#attempt({ query_timeout: PROBE_MS, ...statement }, true));
    } catch (failure) {
      if (!(failure instanceof AttemptError)) throw failure;
      const { kind, error } = failure;
      // No request can be at fault: the tables are gone (a restore that runs), or the role may not use them.
      if (kind === 'lacking') await this.#watch?.look((statement) => this.#attempt(statement, true)).catch(() => {});
      if (kind === 'refused' || kind === 'lacking') this.#noteAway(this.#watch?.fault ?? error, this.#statementCount);
      this.#report();
      throw error;
    }
  }

  /** Called before the last statements of a shutdown: from now on, statements do not wait for a database that is away. */
  endWaits(): void {
    this.#isEnding = true;
    this.#cancelProbe();
    this.#pauses.endAll();
  }

  /** Closes the connections. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.endWaits();
    this.#isClosed = true;
    // A connection that is out of the pool is closed with the process.
    await Promise.race([this.#connections.end().catch(() => {}), pause(END_MS, undefined, { ref: false })]);
  }

  /**
   * What a failure means, also one for want of something. Throws a bug, which is no failure of a statement, as it is.
   * @param hasBeenWhole it failed so before, although nothing was missing any more: then it is a bug
   */
  async #judged(failed: unknown, hasBeenWhole: boolean): Promise<AttemptError> {
    if (!(failed instanceof AttemptError)) throw failed;
    if (failed.kind !== 'lacking') return failed;
    const { error } = failed;
    const watch = this.#watch;
    if (watch === undefined) {
      const kind = unjudgedKindOf(error as StatementError);
      return new AttemptError(kind, errorOf(error.cause, kind));
    }
    try {
      if (watch.fault === undefined) await watch.look((statement) => this.#attempt(statement, true), hasBeenWhole);
    } catch (failure) {
      if (!(failure instanceof AttemptError)) throw failure;
      return new AttemptError('cancelled', new DatabaseAwayError(failure.error.message, { cause: failure }));
    }
    if (watch.fault === undefined) return new AttemptError(hasBeenWhole ? 'refused' : 'again', error);
    this.#report();
    this.#probeLater();
    return new AttemptError('lacking', new LackError(watch.fault, { cause: error }));
  }

  /** @param isTelling a lost connection means that the database cannot be used */
  async #attempt(statement: Statement, isTelling: boolean): Promise<readonly Row[]> {
    const connection = await this.#connected();
    let isBroken = true;
    try {
      const rows = await this.#send(connection, statement, 'sent', isTelling);
      isBroken = false;
      return rows;
    } finally {
      connection.release(isBroken);
    }
  }

  async #send(connection: Connection, statement: Statement, stage: Stage, isTelling: boolean): Promise<readonly Row[]> {
    const number = ++this.#statementCount;
    try {
      const { rows } = await connection.query(statement);
      this.#succeeded = Math.max(this.#succeeded, number);
      return rows;
    } catch (failure) {
      throw this.#failed(failure, stage, isTelling, number);
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#isClosed) throw new AttemptError('refused', new DatabaseAwayError('the database was closed'));
    const number = this.#statementCount;
    try {
      return await this.#connections.connect();
    } catch (failure) {
      throw this.#failed(failure, 'connecting', true, number);
    }
  }

  #failed(failure: unknown, stage: Stage, isTelling: boolean, number: number): AttemptError {
    const kind = failureKindOf(failure, stage);
    if (kind === 'away' || (kind === 'lost' && isTelling)) this.#noteAway(failure, number);
    if (kind === 'full' && !this.#isClosed) this.#noteFull(failure);
    return new AttemptError(kind, errorOf(failure, kind));
  }

  /** @param number of the latest statement when it began: where a later one has succeeded, only the next probe tells */
  #noteAway(failure: unknown, number: number): void {
    if (this.#outage === undefined && !this.#isClosed && number >= this.#succeeded) {
      this.#outage = unusable(failure);
      this.#report();
    }
    this.#probeLater();
  }

  #noteFull(failure: unknown): void {
    this.#full ??= unusable(failure);
    this.#report();
    this.#probeLater();
  }

  #noteUsable(): void {
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#pauses.endAll();
    this.#report();
  }

  async #lookForRoom(): Promise<void> {
    if (this.#full === undefined) return;
    await findRoom((statement) => this.#attempt({ query_timeout: PROBE_MS, ...statement }, true));
    this.#full = undefined;
    this.#pauses.endAll();
    this.#report();
  }

  #report(): void {
    const fault = this.#lasting();
    if (fault === this.#reported) return;
    this.#reported = fault;
    this.#ports.onStateFault(fault);
  }

  #probeLater(): void {
    if (this.#isProbing || this.#isEnding) return;
    this.#isProbing = true;
    this.#cancelProbe = this.#ports.timers.after(PROBE_PAUSE_MS, () => {
      this.#probing = this.probe()
        .then(() => this.#lookForRoom())
        .then(
          // A statement may have failed since.
          () => (this.#outage ?? this.#full ?? this.#watch?.fault) === undefined,
          () => false,
        )
        .then((isOver) => {
          this.#isProbing = false;
          if (!isOver) this.#probeLater();
        });
    });
  }
}
