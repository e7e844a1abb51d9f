/** A state folder of a test's own, opened and killed like a process would be. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Timers } from '../../../src/base/timers.ts';
import type { Backend, StoreOptions } from '../../../src/storage/backend.ts';
import { openSqliteBackend } from '../../../src/storage/sqlite/backend.ts';
import { openSqliteState, type SqliteState, type StateOptions } from '../../../src/storage/sqlite/state.ts';
import type { OpenWriter } from '../../../src/storage/sqlite/writer-messages.ts';
import { Chance } from '../../support/chance.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import { SALES_KEPT_MS } from '../../support/sale.ts';

export class Folder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'paygrade-state-'));
  readonly faults: (string | undefined)[] = [];
  #open: { close(): Promise<void> }[] = [];

  async open(
    options: Partial<StateOptions> = {},
    clock: Clock = systemClock,
    openWriter?: OpenWriter,
    timers: Timers = systemTimers,
  ): Promise<SqliteState> {
    const state = await openSqliteState(
      { stateDir: this.path, sync: 'full', isPlay: true, mayReset: false, salesKeptMs: SALES_KEPT_MS, ...options },
      { clock, timers, onStateFault: (fault) => this.faults.push(fault), openWriter },
    );
    this.#open.push(state);
    return state;
  }

  /** All stores; a fault of the callbacks in the background fails the test. */
  async openBackend(options: StoreOptions, time: ManualTime): Promise<Backend> {
    const backend = await openSqliteBackend(
      { stateDir: this.path, sync: 'normal', mayReset: false, salesKeptMs: SALES_KEPT_MS, ...options },
      {
        clock: time,
        timers: time,
        random: new Chance(1),
        onStateFault: (fault) => this.faults.push(fault),
        onFailure(fault) {
          throw fault;
        },
      },
    );
    this.#open.push(backend);
    return backend;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** The folder as a kill at this moment would leave it: file and log are copied while they are in use. */
  killed(): Folder {
    const copy = new Folder();
    cpSync(this.path, copy.path, { recursive: true });
    return copy;
  }

  /** What is open, as SIGTERM would close it. */
  async close(): Promise<void> {
    for (const state of this.#open) await state.close();
    this.#open = [];
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}
