/**
 * Requests to the Jobs Data API with a key: lists page by page, single answers and public ones, each judged by its headers.
 */
import type { Buffer } from 'node:buffer';
import { type Answer, headerOf } from './connection.ts';
import type { DataQuestion } from './data-questions.ts';
import { type Operation, type Run, send, type Verdict, verdictOn } from './operation.ts';

/** Credits that the measured answers and those of the warm-up cost. */
export interface DataCharges {
  charged: number;
}

const CURSOR = '"next_cursor":"';
const RETURNED = /"returned_[a-z]+":([0-9]+),/g;
/** Bytes before the cursor that contain `returned_...`: only the limit stands between them. */
const RETURNED_SPAN = 200;

/** Searches from the end: a page's members follow its records, so catalogue texts cannot be mistaken for them. */
function cursorIn(body: Buffer): string | undefined {
  const at = body.lastIndexOf(CURSOR, -1, 'latin1');
  if (at < 0) return undefined;
  const start = at + CURSOR.length;
  return body.toString('latin1', start, body.indexOf('"', start, 'latin1'));
}

/** How many records a page states that it has. */
function returnedIn(body: Buffer): number | undefined {
  const end = body.lastIndexOf('"next_cursor":', -1, 'latin1');
  const found = [...body.toString('latin1', Math.max(0, end - RETURNED_SPAN), Math.max(0, end)).matchAll(RETURNED)];
  return found.length === 0 ? undefined : Number(found.at(-1)![1]);
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;

/** What is wrong with the headers of a success (siblings §3 and §4). */
function faultOf({ kind }: DataQuestion, { body, head }: Answer): string | undefined {
  const charged = wholeNumber(headerOf(head, 'x-credits-charged'));
  const cacheControl = headerOf(head, 'cache-control');
  if (kind === 'public') {
    if (charged !== undefined) return 'CHARGED';
    return headerOf(head, 'etag') === undefined || cacheControl === 'private, no-store' ? 'NOT_CACHEABLE' : undefined;
  }
  if (charged === undefined || wholeNumber(headerOf(head, 'x-credits-remaining')) === undefined) return 'NO_CREDITS';
  if (cacheControl !== 'private, no-store') return 'CACHEABLE';
  return kind === 'list' && charged !== returnedIn(body) ? 'WRONG_CHARGE' : undefined;
}

/** The questions in turn. */
export function dataOperation(
  run: Run,
  questions: readonly DataQuestion[],
  key: string,
  charges: DataCharges,
): Operation {
  /** By question: where its next page begins; undefined: at the first. */
  const cursors: (string | undefined)[] = questions.map(() => undefined);
  const keyed = { authorization: `Bearer ${key}` };
  let turn = 0;
  return {
    readiness: () => 'ready',
    start(plannedMs, onEnd) {
      const index = turn++ % questions.length;
      const question = questions[index]!;
      const cursor = cursors[index];
      const path = cursor === undefined ? question.path : `${question.path}&cursor=${cursor}`;
      const request = run.requests.get(path, question.kind === 'public' ? {} : keyed);
      const judge = (answer: Answer): Verdict => {
        const verdict = verdictOn(answer, 200, () => faultOf(question, answer));
        if (question.kind === 'list') cursors[index] = verdict.isExpected ? cursorIn(answer.body) : undefined;
        charges.charged += wholeNumber(headerOf(answer.head, 'x-credits-charged')) ?? 0;
        return verdict;
      };
      send(run, { kind: 'data', request, plannedMs, judge, onEnd });
    },
  };
}
