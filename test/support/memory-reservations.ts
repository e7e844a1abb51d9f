/** Reservations in memory whose tests give only what they are about. */
import type { Clock } from '../../src/base/clock.ts';
import { ANSWER_ROOM } from '../../src/storage/memory/kept-answers.ts';
import { NOTHING_LOADED, type ReservationJournal } from '../../src/storage/memory/reservation-journal.ts';
import {
  MemoryReservations,
  RESERVATION_COUNT_MAX,
  type ReservationOptions,
} from '../../src/storage/memory/reservations.ts';

/** Records nothing. */
export const NO_JOURNAL: ReservationJournal = {
  fault: () => undefined,
  recordIntent: async () => {},
  recordUnknown: async () => {},
  recordEnd: async () => {},
  recordReleased: async () => {},
  readAnswer: async () => undefined,
  replaceAnswer: async () => {},
  forgetAnswers: () => {},
  forget: () => {},
};

export const memoryReservations = (clock: Clock, options: Partial<ReservationOptions> = {}): MemoryReservations =>
  new MemoryReservations(clock, {
    countMax: RESERVATION_COUNT_MAX,
    room: ANSWER_ROOM,
    journal: NO_JOURNAL,
    loaded: NOTHING_LOADED,
    settlement: 'local',
    ...options,
  });
