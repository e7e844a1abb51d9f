import type { Backend } from '../../src/storage/backend.ts';
import { ManualTime } from '../support/manual-time.ts';

/** A store as a suite gets it: empty, with a way to release whatever lies under it. */
export interface Opened<T> {
  readonly store: T;
  close(): Promise<void>;
}

/** A backend as a suite gets it: empty. */
export interface OpenedBackend {
  readonly backend: Backend;
  /** Opens what a kill at this moment would leave; undefined = nothing outlives the process. */
  readonly reopen?: () => Promise<Backend>;
  /** Resolves when the process has noticed that time has passed; absent = at once. */
  readonly renewed?: () => Promise<void>;
  /** Removes everything; closes what is still open. */
  remove(): Promise<void>;
}

/** Opens something for one test, at a time that the test moves, and removes it, whatever the test comes to. */
export async function withRemoved<T extends { remove(): Promise<void> }>(
  open: (time: ManualTime) => Promise<T>,
  test: (opened: T, time: ManualTime) => Promise<void>,
  time = new ManualTime(),
): Promise<void> {
  const opened = await open(time);
  try {
    await test(opened, time);
  } finally {
    await opened.remove();
  }
}

/** Opens a store for one test and closes it, whatever the test comes to. */
export async function withOpened<T>(opening: Promise<Opened<T>>, test: (store: T) => Promise<void>): Promise<void> {
  const opened = await opening;
  try {
    await test(opened.store);
  } finally {
    await opened.close();
  }
}
