/**
 * POST /v1/retries: takes a request that is sent until it works (siblings §6). A key or a payment buys it; with an `Authorization`
 * header the key decides. The order: key -> input (400, 413, 415) -> rates (429) -> overload (503) -> payment (402, 409) -> uncharged
 * outcomes (429) -> idempotency -> look-up of the names (400) -> settlement or credits (402) -> 201.
 */
import { apiKey } from '../../access/api-key.ts';
import { ChargedAnswer, costsWithKey } from '../../access/credits.ts';
import { customerOf, idempotencyKey } from '../../access/idempotency-key.ts';
import { perKey } from '../../access/key-rate.ts';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { fewUncharged } from '../../access/uncharged.ts';
import { paid } from '../../access/x402.ts';
import { anyOf } from '../../http/access.ts';
import { AfterSettlement } from '../../http/answers.ts';
import { Refusal } from '../../http/errors.ts';
import { BODY_ERRORS, jsonBody } from '../../http/json-body.ts';
import type { RequestView } from '../../http/request-view.ts';
import { route } from '../../http/route.ts';
import { LOOK_UP_MS } from '../../outbound/limits.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { RetryJob } from '../../retry/job.ts';
import { BODY_DEADLINE_MS, REQUEST_BYTES_MAX, REQUEST_DEPTH_MAX } from '../../retry/limits.ts';
import type { RetryDraft } from '../../retry/retries.ts';
import { createdAnswer, createdOf } from './answers.ts';
import { EXAMPLE_BODY, EXAMPLE_CREATED, EXAMPLE_REPEATED } from './examples.ts';
import { type CheckedOrder, checkedOrder, createBody, notAllowed, TARGET_NOT_ALLOWED } from './input.ts';
import type { RetryServices } from './services.ts';

/** Credits of one job. */
const COST = 1;

const decodeBody = jsonBody(
  createBody,
  { bytesMax: REQUEST_BYTES_MAX, deadlineMs: BODY_DEADLINE_MS },
  REQUEST_DEPTH_MAX,
);

/** Reads the order, and what its payment must know: how long the look-ups may take, and the key that names the purchase. */
async function readOrder(request: RequestView, services: RetryServices) {
  const read = await decodeBody(request, services);
  if (read instanceof Refusal) return read;
  const key = request.header('idempotency-key');
  const body = checkedOrder(read, key, services.outbound.policy);
  if (body instanceof Refusal) return body;
  const purchaseKey = key === null ? undefined : services.retries.purchaseKeyOf(key);
  return { body, bytes: read.bytes, answerSeconds: LOOK_UP_MS / 1000, purchaseKey };
}

/** Looks the names up. A name that does not resolve is not refused: it may resolve at a later attempt. */
async function refusalOfNames({ targets }: CheckedOrder, outbound: Outbound) {
  const found = await Promise.all(targets.map(({ target }) => outbound.lookUp(target)));
  const blocked = targets[found.indexOf('blocked')];
  return (
    blocked &&
    notAllowed(blocked.field, 'its name leads to an address that is not public, or not allowed with this port')
  );
}

export const createRetry = route<RetryServices>()({
  operation: 'createRetry',
  method: 'POST',
  path: '/v1/retries',
  summary: 'Send a request until it works',
  description:
    'The first attempt goes out at once. Timeouts, connection errors and the statuses of `policy.retry_statuses` are tried again; ' +
    'any other answer ends the job. When it ends, a signed event goes to `callback_url`.',
  access: [
    perClient,
    unlessOverloaded,
    anyOf(apiKey('retries:write'), paid<RetryDraft>('0.02', 'retry')),
    perKey,
    fewUncharged,
    idempotencyKey,
    costsWithKey(COST),
  ],
  bodies: { 'application/json': createBody },
  status: 201,
  answer: createdAnswer,
  otherAnswers: { 200: createdAnswer },
  errors: [...BODY_ERRORS, TARGET_NOT_ALLOWED],
  examples: {
    bodies: { 'application/json': EXAMPLE_BODY },
    answer: EXAMPLE_CREATED,
    otherAnswers: { 200: EXAMPLE_REPEATED },
  },
  readBody: readOrder,
  async handle({ body: checked }, { outbound, retries, baseUrl }, _request, principal) {
    const { order } = checked;
    const customer = customerOf(principal);
    const sold = 'payer' in principal ? principal.draft : undefined;
    // A job that was paid for before is created without looking its names up again.
    const refused = sold === undefined ? await refusalOfNames(checked, outbound) : undefined;
    if (refused !== undefined) return refused;
    const idempotency = principal.idempotency ?? null;
    const draft = sold ?? retries.draft(customer, order, idempotency);
    if (customer.organization === null) {
      const create = (): Promise<RetryJob> => retries.create(draft, customer, order, idempotency);
      return new AfterSettlement(draft, async () => createdOf(await create(), draft, baseUrl));
    }
    let job: RetryJob | undefined;
    return new ChargedAnswer(
      COST,
      () => {
        if (job === undefined) throw new Error('a charged retry without its record');
        return createdOf(job, draft, baseUrl);
      },
      async () => {
        const made = await retries.buy(draft, customer, order, idempotency, COST);
        job = made.job;
        // A concurrent request with the same key came first; the customer's next request finds its job.
        if (made.bought.kind !== 'existing') return made.bought;
        return { kind: 'unavailable', detail: 'another request with this idempotency key was faster' };
      },
    );
  },
});
