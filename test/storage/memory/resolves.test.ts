/** Paid resolves in memory while the wall clock is wrong. */
import { describe, expect, it } from 'vitest';
import { newResolveId, resolveTokenDigest } from '../../../src/resolve/identifier.ts';
import { KEPT_MS, STORED_BYTES_IN_MEMORY } from '../../../src/resolve/limits.ts';
import { MemoryResolves } from '../../../src/storage/memory/resolves.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

const QUESTION = { url: 'https://target.example/', include: ['text'] as const };
const OUTCOME = '"result":null,"failure":null';

describe('resolves in memory', () => {
  it.each(['that was created here', 'of an earlier process'])(
    'keep an outcome %s while the clock is two hours ahead',
    (whose) => {
      const time = new ManualTime();
      const isLoaded = whose === 'of an earlier process';
      const record = { id: newResolveId(new Chance(1)), tokenDigest: resolveTokenDigest('token'), question: QUESTION };
      const loaded = { ...record, createdAtMs: time.nowMs(), status: 'pending' as const, outcomeBytes: 0 };
      const store = new MemoryResolves(
        { clock: time, timers: time, onFailure: () => {} },
        { capacityBytes: STORED_BYTES_IN_MEMORY, loaded: isLoaded ? [loaded] : [] },
      );
      if (!isLoaded) store.create({ ...record, createdAtMs: time.nowMs() });
      store.finish(record.id, 'failed', OUTCOME);

      time.stepWall(2 * KEPT_MS);
      time.pass(60_000);
      time.stepWall(-2 * KEPT_MS);
      expect(store.find(record.id)?.status).toBe('failed');
      expect(store.readOutcome(record.id)).toBe(OUTCOME);
      time.pass(KEPT_MS);
      expect(store.counts).toMatchObject({ live: 0, tombstones: 1, storedBytes: 0 });
    },
  );
});
