/** A play ledger of a process that begins. */
import type { Clock } from '../../src/base/clock.ts';
import { MemoryPlayLedger, NOTHING_SPENT, TRANSFER_COUNT_MAX } from '../../src/storage/memory/play-ledger.ts';

export const playLedger = (openingAtomic: bigint, clock: Clock, transferCountMax = TRANSFER_COUNT_MAX) =>
  new MemoryPlayLedger(openingAtomic, clock, transferCountMax, NOTHING_SPENT);
