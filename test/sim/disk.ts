/**
 * The disk under the journal. It keeps a plain line between what is durable and what is on its way: a commit is written
 * (survives the process), then synced (survives lost power), then acknowledged. What is durable stands in records.ts. In a
 * share of the runs a database file does the same work beside it, and at every start both must have loaded the same.
 *
 * Faults: refusals (full, read-only), I/O errors before and in the commit with the batch stored or not, slow commits, a
 * writer that dies, kills in any phase, a torn tail of the real log.
 */
import { cpSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../src/base/clock.ts';
import type { EventRecord } from '../../src/callback/event.ts';
import type { Backend, StoreOptions } from '../../src/storage/backend.ts';
import { backendOver, type SqlitePorts } from '../../src/storage/sqlite/backend.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import { Journal } from '../../src/storage/sqlite/journal.ts';
import {
  type LoadedState,
  loadState,
  openSqliteState,
  readerOver,
  STATE_FILE,
  stateOver,
} from '../../src/storage/sqlite/state.ts';
import { CALLBACKS, type EventQuery } from '../../src/storage/sqlite/tables/callbacks.ts';
import type { Operation, Query } from '../../src/storage/sqlite/tables/table.ts';
import type {
  BatchResult,
  RefusedOperation,
  Writer,
  WriterEvents,
  WriterReply,
  WriterRequest,
} from '../../src/storage/sqlite/writer-messages.ts';
import type { Chance } from '../support/chance.ts';
import { SALES_KEPT_MS } from '../support/sale.ts';
import type { Profile } from './profile.ts';
import { isRefusable, Records } from './records.ts';
import type { World } from './world.ts';

/** Why a single read fails, which the program reports where no request waits for it: nothing else tells of it. */
export const READ_FAULT = 'disk I/O error in a read';

/** What the real database may hold and in which order it reads it, without what its own classes add. */
function comparable(loaded: LoadedState): unknown {
  return {
    ends: [...loaded.reservations.ends],
    cases: loaded.reservations.cases,
    spent: [...loaded.ledger.spent].sort(([one], [other]) => (one < other ? -1 : 1)),
    callbacks: [...loaded.callbacks]
      .sort((one, other) => (one.callback.id < other.callback.id ? -1 : 1))
      .map(({ callback, events }) => ({
        ...callback,
        tokenDigest: [...callback.tokenDigest],
        events: events.map((event) => ({ ...event, bytes: event.bytes === null ? null : [...event.bytes] })),
      })),
  };
}

/** What the disk needs of the process that uses it. */
export interface Process {
  readonly isDead: boolean;
  /** Counts a call to the outside; false: the process died before it. */
  touch(what: string): boolean;
}

interface Batch {
  readonly operations: readonly Operation[];
  phase: 'begun' | 'written' | 'synced';
  /** Size of the real log before it was written. */
  logBytes: number;
  isRefused: boolean;
  refused: readonly RefusedOperation[];
}

export class Disk {
  readonly records = new Records();
  /** Nothing can be written until then. */
  refusesUntilMs = 0;
  /** The next commit fails for good. */
  breaksNext = false;
  isHealed = false;
  /** When an event could not be read back, the last time. */
  readonly unreadMs = new Map<string, number>();
  /** Told of every batch that is posted, before anything becomes of it. */
  onPosted: (operations: readonly Operation[]) => void = () => {};
  /** Told of every batch that became durable. */
  onDurable: (operations: readonly Operation[]) => void = () => {};
  /** Told when something of the disk failed, with how many records it may have taken along. */
  onFault: (recordCount: number) => void = () => {};
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #isPlay: boolean;
  #underWay: Batch | undefined;
  #folder: string | undefined;
  #database: StateDatabase | undefined;
  readonly #folders: string[] = [];

  constructor(world: World, chance: Chance, profile: Profile) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#isPlay = profile.settlement === 'local';
    if (profile.disk === 'both') this.#folder = this.#newFolder();
  }

  #newFolder(): string {
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paygrade-sim-'));
    this.#folders.push(folder);
    return folder;
  }

  remove(): void {
    this.records.close();
    this.#database?.close();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  /** The process is gone; with `power`, so is what was not synced. */
  crash(cause: 'process' | 'power'): void {
    const batch = this.#underWay;
    this.#underWay = undefined;
    let isTorn = false;
    if (batch !== undefined && batch.phase === 'written') {
      if (cause === 'process' || this.#chance.is(0.5)) this.#keep(batch);
      else isTorn = !batch.isRefused;
    }
    if (this.#folder === undefined) return;
    const from = this.#folder;
    this.#folder = this.#newFolder();
    for (const ending of ['', '-wal']) {
      const path = join(from, STATE_FILE + ending);
      if (existsSync(path)) cpSync(path, join(this.#folder, STATE_FILE + ending));
    }
    if (existsSync(join(from, 'state.json'))) cpSync(join(from, 'state.json'), join(this.#folder, 'state.json'));
    const log = join(this.#folder, `${STATE_FILE}-wal`);
    if (isTorn && batch !== undefined && existsSync(log)) {
      const { size } = statSync(log);
      const { logBytes } = batch;
      if (size > logBytes) truncateSync(log, logBytes + this.#chance.below(size - logBytes));
      this.#world.count('torn logs');
    }
    this.#database?.close();
    this.#database = undefined;
    rmSync(from, { recursive: true, force: true });
  }

  async open(process: Process, options: StoreOptions, ports: SqlitePorts): Promise<Backend> {
    const wired: SqlitePorts = {
      ...ports,
      soon: (run) => {
        if (process.touch('soon')) this.#world.after(0, () => !process.isDead && run());
      },
      openWriter: (_options, events) => this.#writer(process, events),
    };
    const { sync } = this.#profile;
    if (this.#folder === undefined) {
      const loaded = this.#loaded(ports.clock);
      const journal = new Journal({ path: '', sync }, wired);
      return backendOver(
        stateOver(
          { journal, reader: readerOver(journal), loaded, release: () => {} },
          { isPlay: this.#isPlay, salesKeptMs: SALES_KEPT_MS },
          wired,
        ),
        options,
        wired,
        null,
      );
    }
    this.#compare(this.#folder, ports.clock);
    const state = await openSqliteState(
      { stateDir: this.#folder, sync, isPlay: this.#isPlay, mayReset: false, salesKeptMs: SALES_KEPT_MS },
      wired,
    );
    this.#world.met('D1 disk');
    if (state.journal === undefined) this.#world.fail('D1 disk', `the state is damaged: ${state.fault()}`);
    else this.#database = new StateDatabase({ path: join(this.#folder, STATE_FILE), sync });
    return backendOver(state, options, wired, null);
  }

  /** What a start finds. */
  #loaded(clock: Clock): LoadedState {
    const loaded = loadState(this.records.database, this.#isPlay, clock);
    const wrong = this.records.takeOver(clock);
    this.#world.judge('D1 disk', wrong === undefined, () => wrong ?? '');
    return loaded;
  }

  /** The model has loaded what the real database has. */
  #compare(folder: string, clock: Clock): void {
    const model = comparable(this.#loaded(clock));
    const copy = mkdtempSync(`${folder}-copy-`);
    this.#folders.push(copy);
    for (const ending of ['', '-wal']) {
      const path = join(folder, STATE_FILE + ending);
      if (existsSync(path)) cpSync(path, join(copy, STATE_FILE + ending));
    }
    const database = new StateDatabase({ path: join(copy, STATE_FILE), sync: 'normal' });
    const real = comparable(loadState(database, this.#isPlay, clock));
    database.close();
    rmSync(copy, { recursive: true, force: true });
    this.#world.count('starts compared with the real database');
    if (isDeepStrictEqual(model, real)) return;
    const text = (value: unknown): string =>
      JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
    this.#world.fail('D1 disk', `model ${text(model)} but database ${text(real)}`);
  }

  #writer(process: Process, events: WriterEvents): Writer {
    const queue: WriterRequest[] = [];
    let isBusy = false;
    const reply = (answer: WriterReply, delayMs: number): void => {
      this.#world.after(delayMs, () => {
        isBusy = false;
        if (process.isDead) return;
        events.onReply(answer);
        next();
      });
    };
    const next = (): void => {
      if (isBusy) return;
      const request = queue.shift();
      if (request === undefined) return;
      isBusy = true;
      switch (request.kind) {
        case 'batch':
          this.#commit(process, request.operations, events, reply);
          return;
        case 'read': {
          const { id, query } = request;
          const isFailing = !this.isHealed && this.#profile.diskFaultsPerMinute > 0 && this.#chance.is(0.01);
          const found = this.records.database.read(query);
          if (this.#database !== undefined) this.#compareRead(this.#database, query, found);
          if (isFailing) {
            if (query.table === CALLBACKS) this.unreadMs.set((query as EventQuery).eventId, this.#world.nowMs);
            this.onFault(0);
          }
          const result = isFailing
            ? ({ kind: 'unreadable', detail: READ_FAULT } as const)
            : ({ kind: 'found', found } as const);
          reply({ kind: 'read', id, result }, this.#latencyMs());
          return;
        }
        case 'close':
          this.#database?.close();
          this.#database = undefined;
          reply({ kind: 'closed' }, this.#latencyMs());
          return;
        default:
          request satisfies never;
      }
    };
    return {
      post: (request) => {
        if (!process.touch(`writer ${request.kind}`)) return;
        if (request.kind === 'batch') this.onPosted(request.operations);
        queue.push(request);
        if (!isBusy) next();
      },
      setAwaited: () => {},
      terminate: async () => {},
    };
  }

  #compareRead(database: StateDatabase, query: Query, found: unknown): void {
    if (query.table !== CALLBACKS) {
      const [real, model] = [database.read(query), found];
      if (!isDeepStrictEqual(real, model)) this.#world.fail('D1 disk', `another answer to a read of ${query.table}`);
      return;
    }
    const textOf = (event: EventRecord | undefined): string =>
      event === undefined ? 'none' : `${event.id} ${Buffer.from(event.bytes).toString('hex')}`;
    const [real, model] = [database.read(query), found].map((each) => textOf(each as EventRecord | undefined));
    if (real !== model) this.#world.fail('D1 disk', `read ${model} but the database has ${real}`);
  }

  #latencyMs(): number {
    if (this.isHealed) return 0.5;
    return this.#chance.is(this.#profile.slowCommitShare)
      ? this.#chance.between(100, this.#chance.is(0.1) ? 8_000 : 1_500)
      : this.#chance.between(0.1, 3);
  }

  #commit(
    process: Process,
    operations: readonly Operation[],
    events: WriterEvents,
    reply: (answer: WriterReply, delayMs: number) => void,
  ): void {
    const world = this.#world;
    const batch: Batch = { operations, phase: 'begun', logBytes: 0, isRefused: false, refused: [] };
    this.#underWay = batch;
    const answer = (result: BatchResult): void => {
      if (this.#underWay === batch) this.#underWay = undefined;
      if (result.kind !== 'done') this.onFault(operations.length);
      reply({ kind: 'batch', result }, this.#chance.between(0, 0.2));
    };
    const isOver = (): boolean => process.isDead || this.#underWay !== batch;
    world.after(this.#latencyMs(), () => {
      if (isOver()) return;
      if (world.nowMs < this.refusesUntilMs) {
        world.count('commits refused');
        answer({ kind: 'refused', detail: 'database or disk is full' });
        return;
      }
      if (this.breaksNext) {
        this.breaksNext = false;
        this.#breakIn(process, batch, events, answer);
        return;
      }
      this.#write(batch);
      if (batch.isRefused) {
        answer({ kind: 'refused', detail: 'no record' });
        return;
      }
      const isSyncing = this.#profile.sync === 'full';
      world.after(isSyncing ? this.#latencyMs() : 0, () => {
        if (isOver()) return;
        this.#keep(batch);
        batch.phase = 'synced';
        world.count('commits');
        world.count('operations committed', operations.length);
        answer({ kind: 'done', refused: batch.refused });
      });
    });
  }

  /** Into the log, not yet synced: the real database does it here. */
  #write(batch: Batch): void {
    batch.phase = 'written';
    if (this.#database === undefined) return;
    const log = join(this.#folder as string, `${STATE_FILE}-wal`);
    batch.logBytes = existsSync(log) ? statSync(log).size : 0;
    const result = this.#database.apply(batch.operations);
    if (result.kind === 'done' && result.refused.every(({ index }) => isRefusable(batch.operations[index]))) return;
    batch.isRefused = true;
    this.#world.fail('D2 possible records', `the database says ${JSON.stringify(result)}`);
  }

  #keep(batch: Batch): void {
    if (batch.isRefused) return;
    this.#world.met('D2 possible records');
    try {
      batch.refused = this.records.apply(batch.operations);
    } catch (failure) {
      batch.isRefused = true;
      this.#world.fail('D2 possible records', (failure as Error).message);
      return;
    }
    this.onDurable(batch.operations);
  }

  /** An I/O error before the commit, or in it with the batch stored or not; or the writer dies. */
  #breakIn(process: Process, batch: Batch, events: WriterEvents, answer: (result: BatchResult) => void): void {
    const isInCommit = this.#chance.is(0.7);
    const isKept = isInCommit && this.#chance.is(0.5);
    this.#world.count(
      isInCommit ? (isKept ? 'I/O errors, stored' : 'I/O errors, not stored') : 'I/O errors before the commit',
    );
    this.#world.note(`I/O error, ${isKept ? 'stored' : 'not stored'}`);
    if (isKept) {
      this.#write(batch);
      this.#keep(batch);
    }
    if (isInCommit && this.#chance.is(0.3)) {
      this.#underWay = undefined;
      this.onFault(batch.operations.length);
      this.#world.after(0, () => {
        if (process.isDead) return;
        events.onEnd('the writer failed: the thread is gone');
      });
      return;
    }
    answer({ kind: 'broken', detail: 'disk I/O error', isInDoubt: isInCommit });
  }
}
