/** The observation period as answers state it. */
import * as v from 'valibot';
import { isoTime } from '../base/iso-time.ts';
import { type ObservationPeriod, observationPeriodEndingAt } from '../catalogue/questions/period.ts';
import { dateTime } from './answer-values.ts';

const days = v.literal(7);

export const observationPeriod = v.strictObject({ start: dateTime, end: dateTime, days });

/** The period's end is also the time of the answer. */
export type AnswerPeriod = Readonly<v.InferInput<typeof observationPeriod>>;

export function periodOf(period: ObservationPeriod): AnswerPeriod {
  return { start: isoTime(period.startMs), end: isoTime(period.endMs), days: 7 };
}

export const periodEndingAt = (nowMs: number): AnswerPeriod => periodOf(observationPeriodEndingAt(nowMs));
