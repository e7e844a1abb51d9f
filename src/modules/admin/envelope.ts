/** The envelope of the operator's answers about sales, boards and companies (decisions §4): `data`, and `meta` with the time. */
import * as v from 'valibot';
import { isoTime } from '../../base/iso-time.ts';
import { dateTime } from '../answer-values.ts';

export const envelope = <D extends v.GenericSchema>(data: D) =>
  v.strictObject({ data, meta: v.strictObject({ generated_at: dateTime }) });

export const metaAt = (nowMs: number) => ({ generated_at: isoTime(nowMs) });
