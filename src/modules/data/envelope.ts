/** The envelope of the Jobs Data API (siblings §4): `data`, and `meta` with the credits that the answer cost. */
import * as v from 'valibot';
import { ChargedAnswer } from '../../access/credits.ts';
import { isoTime, isoTimeOrNull } from '../../base/iso-time.ts';
import { memoizeByObject } from '../../base/memoize-by-object.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { Refusal } from '../../http/errors.ts';
import { KeptJson } from '../../http/hot/kept-json.ts';
import type { RequestView } from '../../http/request-view.ts';
import { count, dateTime } from '../answer-values.ts';
import { EXAMPLE_ANSWERED_MS, EXAMPLE_OBSERVED_AT } from '../catalogue-examples.ts';
import { askServed, type Unread } from '../catalogue-refusals.ts';
import { LIMITATIONS, SYNTHETIC } from '../limitations.ts';
import { type DataText, dataText } from './pages-memo.ts';
import type { DataServices } from './services.ts';

const meta = v.strictObject({
  generated_at: dateTime,
  request_id: v.string(),
  freshness: v.strictObject({ last_observed_at: v.nullable(dateTime) }),
  credits: v.strictObject({ charged: count, remaining: count }),
  limitations: v.array(v.string()),
});

export const envelope = <D extends v.GenericSchema>(data: D) => v.strictObject({ data, meta });

/** `meta` of an example answer. @param charged credits that the answer cost */
export const exampleMeta = (charged: number): v.InferInput<typeof meta> => ({
  generated_at: isoTime(EXAMPLE_ANSWERED_MS),
  request_id: 'req_00000000-0000-4000-8000-000000000000',
  freshness: { last_observed_at: EXAMPLE_OBSERVED_AT },
  credits: { charged, remaining: 10_000 - charged },
  limitations: [...LIMITATIONS],
});

/** The newest observation of all active jobs. */
const freshnessOf = ({ catalogue: { snapshot } }: ServedCatalogue): string | null =>
  isoTimeOrNull(snapshot.activeCount === 0 ? null : snapshot.lastObserved[0]!);

export const limitationsOf = ({ isSynthetic }: ServedCatalogue): readonly string[] =>
  isSynthetic ? [...LIMITATIONS, SYNTHETIC] : LIMITATIONS;

/** The `data` of an answer, and its cost. */
export interface Costing<D> {
  readonly data: D;
  /** Whole credits. */
  readonly cost: number;
}

type Charged<D> = ChargedAnswer<{ data: D; meta: v.InferInput<typeof meta> }>;

const textOf = <D>({ cost, data }: Costing<D>): DataText => dataText(JSON.stringify(data), cost);

/** The members of `meta` that depend only on the catalogue, as JSON text. */
const textsOf = memoizeByObject((served: ServedCatalogue) => ({
  freshness: JSON.stringify({ last_observed_at: freshnessOf(served) }),
  limitations: JSON.stringify(limitationsOf(served)),
}));

let lastTime = { ms: 0, text: isoTime(0) };

/** The time of an answer as text, memoized: under load many answers share a millisecond. */
function timeOfAnswer(nowMs: number): string {
  if (lastTime.ms !== nowMs) lastTime = { ms: nowMs, text: isoTime(nowMs) };
  return lastTime.text;
}

/** The answer is completed when it is charged: all but the credits is ready before, so nothing can fail afterwards. */
function charged<D>(
  { beginning, cost }: DataText,
  nowMs: number,
  served: ServedCatalogue,
  { requestId }: RequestView,
): Charged<D> {
  const { freshness, limitations } = textsOf(served);
  const before =
    `,"meta":{"generated_at":"${timeOfAnswer(nowMs)}","request_id":"${requestId}",` +
    `"freshness":${freshness},"credits":`;
  return new ChargedAnswer<{ data: D; meta: v.InferInput<typeof meta> }>(
    cost,
    ({ charged: taken, remaining }) =>
      new KeptJson(beginning, `${before}{"charged":${taken},"remaining":${remaining}},"limitations":${limitations}}}`),
  );
}

/**
 * Answers from the catalogue, for credits.
 * @param make gives `data` and cost, or a refusal
 */
export function answered<D, C extends string = never>(
  { catalogue, clock }: DataServices,
  request: RequestView,
  make: (catalogue: Catalogue, nowMs: number) => Costing<D> | Refusal<C>,
): Charged<D> | Refusal<C> | Unread {
  return askServed(catalogue, (served) => {
    const nowMs = clock.nowMs();
    const made: Costing<D> | Refusal<C> = make(served.catalogue, nowMs);
    return made instanceof Refusal ? made : charged<D>(textOf(made), nowMs, served, request);
  });
}

/**
 * The same for an answer that depends only on catalogue and question, so it is memoized.
 * @param make the whole `data`, or a refusal
 */
export function answeredOnce<D, C extends string = never>(
  { catalogue, clock, memo }: DataServices,
  request: RequestView,
  question: string,
  make: (served: ServedCatalogue) => DataText | Refusal<C>,
): Charged<D> | Refusal<C> | Unread {
  return askServed(catalogue, (served) => {
    const made: DataText | Refusal<C> = memo.over(served, question, make);
    return made instanceof Refusal ? made : charged<D>(made, clock.nowMs(), served, request);
  });
}
