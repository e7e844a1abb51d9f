/** A store as a suite gets it: empty, with a way to release whatever lies under it. */
export interface Opened<T> {
  readonly store: T;
  close(): Promise<void>;
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
