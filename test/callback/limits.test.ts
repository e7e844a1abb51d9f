import { describe, expect, it } from 'vitest';
import {
  CLAIM_BYTES,
  TOMBSTONE_COUNT_CEILING,
  TOMBSTONE_COUNT_FLOOR,
  tombstoneCountMax,
} from '../../src/callback/limits.ts';

describe('the number of expired ids that are remembered', () => {
  const atFloor = Math.floor(TOMBSTONE_COUNT_FLOOR / 6);
  const atCeiling = Math.floor(TOMBSTONE_COUNT_CEILING / 6);
  it.each([
    [0, TOMBSTONE_COUNT_FLOOR],
    [1, TOMBSTONE_COUNT_FLOOR],
    [7_992, TOMBSTONE_COUNT_FLOOR],
    [atFloor, TOMBSTONE_COUNT_FLOOR],
    [atFloor + 1, 6 * (atFloor + 1)],
    [20_000, 120_000],
    [atCeiling, 6 * atCeiling],
    [atCeiling + 1, TOMBSTONE_COUNT_CEILING],
    [1_000_000, TOMBSTONE_COUNT_CEILING],
  ])('for a room of %i callbacks is %i', (callbackCount, count) => {
    expect(tombstoneCountMax(callbackCount * CLAIM_BYTES)).toBe(count);
    expect(tombstoneCountMax((callbackCount + 1) * CLAIM_BYTES - 1)).toBe(count);
  });
});
