/** All processes of a database have one `STATE_KEY` (siblings §9): one that has another is refused at its start. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/storage/backend.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SharedDatabase } from './opened-backend.ts';

describe.skipIf(SERVER === undefined)('a database that processes share', () => {
  let shared: SharedDatabase;
  beforeEach(async () => {
    shared = await SharedDatabase.open(SERVER as NonNullable<typeof SERVER>, new ManualTime());
  });
  afterEach(() => shared.remove());

  const start = (byte: number): Promise<Backend> =>
    shared.process({ callbackBytes: 0, play: undefined, stateKey: new Uint8Array(32).fill(byte) });

  it('takes the key of its first process and refuses every other one, and shows neither', async () => {
    await start(1);
    await start(1);
    const refused = await start(2).catch((failure: Error) => failure);
    expect(refused).toMatchObject({ name: 'StateError' });
    expect((refused as Error).message).toMatch(
      /^STATE_KEY is not the key that the database 127\.0\.0\.1:\d+\/\w+ is used with;/,
    );
    await start(1);
  });

  it('takes another key once its check value was removed', async () => {
    await start(1);
    await shared.run("DELETE FROM paygrade.secrets WHERE name = 'state-key-check'");
    await start(2);
    await expect(start(1)).rejects.toThrow('STATE_KEY is not the key');
  });
});
