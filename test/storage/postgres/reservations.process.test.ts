/** Claims that the database refuses. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { StatementError } from '../../../src/storage/postgres/failures.ts';
import { orderFor } from '../../payment/fixture.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SharedDatabase } from './opened-backend.ts';

describe.skipIf(SERVER === undefined)('a claim', () => {
  it('with a value that the database refuses is a bug and no outage, and the next one is made', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const { reservations } = await shared.process({ callbackBytes: 0, play: undefined });
    const { key } = orderFor();
    const twice = [1, 2].map(() => reservations.reserve(key, Number.NaN, []));
    for (const one of twice) await expect(one).rejects.toBeInstanceOf(StatementError);
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    expect((await reservations.reserve(key, validBeforeSeconds, [])).kind).toBe('reserved');
  });
});
