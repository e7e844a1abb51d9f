/**
 * `Idempotency-Key` of a creation (siblings §6), by organization or payer: the same key with the same body gives the first
 * answer again, without secrets and without a charge; with another body it is a conflict. Concurrent requests with one key
 * wait for the first. Stands after the payment and the API key; a claimed key is free again when its request ends without a
 * job. A payment that may have settled without a job keeps the key as one of its names (`purchaseKey`).
 */
import type { Access } from '../http/access.ts';
import { Answer, Reply } from '../http/answers.ts';
import { Refusal, STATE_UNAVAILABLE, stateUnavailable } from '../http/errors.ts';
import { IDEMPOTENCY_KEY_FORM } from '../retry/identifier.ts';
import type { IdempotencyClaim, RetryJob } from '../retry/job.ts';
import type { ClaimResult, Retries, RetryCustomer, RetryDraft } from '../retry/retries.ts';
import { type CreditServices, creditHeaders } from './credits.ts';
import { IDEMPOTENCY_CONFLICT, idempotencyConflict } from './idempotency-conflict.ts';
import type { Requester } from './requester.ts';
import { ifDamaged } from './retry-access.ts';
import type { Payer } from './x402.ts';

/** The services that a module needs for operations with this header. */
export interface IdempotencyServices extends CreditServices {
  readonly retries: Pick<Retries, 'claim'>;
  /** JSON text of the answer to a repeated creation. */
  repeatedAnswer(job: RetryJob): string;
}

/** The principal of a creation. */
export interface IdempotencyPrincipal {
  /** undefined without the header. */
  readonly idempotency?: IdempotencyClaim;
}

/** The customer who creates a job, by API key or payment. */
export function customerOf(requester: Requester): RetryCustomer {
  if ('payer' in requester) return { customer: `payer:${requester.payer}`, organization: null };
  const { organization } = requester;
  return { customer: `org:${organization}`, organization };
}

const NO_BYTES = new Uint8Array();

/** Whether a key belongs to the job of another draft. */
const isOfAnother = (claimed: ClaimResult, draft: RetryDraft | undefined): boolean =>
  claimed.kind === 'conflict' || (claimed.kind === 'existing' && claimed.job.id !== draft?.id);

export const idempotencyKey: Access<IdempotencyPrincipal, IdempotencyServices, Requester<RetryDraft>> = {
  errors: [IDEMPOTENCY_CONFLICT, STATE_UNAVAILABLE],
  documentation: {
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'The same key with the same body gives the first answer again with 200, without secrets and without a charge.',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY_FORM.source },
      },
    ],
  },
  open: ({ accounts, retries, repeatedAnswer }) => ({
    async admit(request, requester, { bytes = NO_BYTES }) {
      const key = request.header('idempotency-key');
      if (key === null) return undefined;
      const { draft, isNamedByKey, isAnswered }: Partial<Payer<RetryDraft>> = 'payer' in requester ? requester : {};
      const { customer } = customerOf(requester);
      const claimed = await retries.claim(customer, key, bytes).catch(ifDamaged);
      // A job sold under a payment identifier is paid for, so it is created even if the key already has a job. It takes the
      // key only if that is free: a later request with the key alone must then find this job, not buy another.
      if (draft !== undefined && isNamedByKey !== true && (claimed instanceof Refusal || claimed.kind !== 'claimed'))
        return undefined;
      if (claimed instanceof Refusal) return claimed;
      // The key's job was bought under an identifier, so the job bought under the key must still be created.
      if (isNamedByKey === true && isOfAnother(claimed, draft)) return undefined;
      // Its job exists, but no answer with the secrets was ready to be sent, and without them it cannot be read.
      if (claimed.kind === 'existing' && isAnswered !== undefined && !(await isAnswered())) return undefined;
      switch (claimed.kind) {
        case 'claimed': {
          const release = (): void => claimed.release();
          return { principal: { idempotency: claimed.claim }, release, created: release };
        }
        case 'existing': {
          const answer = new Reply(repeatedAnswer(claimed.job), { 'content-type': 'application/json' }, 200);
          const { organization } = claimed.job;
          if (organization === null) return new Answer(answer, undefined);
          const charge = await accounts.charge(organization, 0);
          if (charge.kind !== 'charged') return stateUnavailable('what is left of the credits cannot be read now');
          return new Answer(answer, creditHeaders({ charged: 0, remaining: charge.remaining }));
        }
        case 'conflict':
          return idempotencyConflict();
        case 'under-way':
          return stateUnavailable('another request with this idempotency key is under way');
        default:
          return claimed satisfies never;
      }
    },
  }),
};
