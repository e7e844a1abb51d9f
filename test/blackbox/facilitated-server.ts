/** A server that settles through a scripted facilitator over HTTP; what the facilitator does is planned per authorization. */
import type { PrivateKeyAccount } from 'viem/accounts';
import { type Answer, expectError, receiptOf } from '../support/answers.ts';
import { type FacilitatorCall, FakeFacilitator, type Step } from '../support/fake-facilitator.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import type { Runtime } from '../support/server.ts';
import type { Authorization, Payment, PaymentRequired } from '../support/wallet.ts';

export type { FacilitatorCall, Step } from '../support/fake-facilitator.ts';

export interface FacilitatorBody {
  readonly x402Version: number;
  readonly paymentPayload: Payment & { readonly extensions?: unknown };
  readonly paymentRequirements: PaymentRequired['accepts'][0];
}

export const bodyOf = (call: FacilitatorCall): FacilitatorBody => JSON.parse(call.body) as FacilitatorBody;
export const authorizationOf = (call: FacilitatorCall): Authorization =>
  bodyOf(call).paymentPayload.payload.authorization;

/** A transaction hash that follows from the authorization. */
export const transactionOf = (nonce: string): string => `0x${[...nonce.slice(2)].reverse().join('')}`;

type Plan = (call: FacilitatorCall) => Step | Promise<Step>;

/** Steps in order, the last one for all further calls. */
const inOrder = (steps: readonly (Step | Plan)[]): Plan => {
  let count = 0;
  return (call) => {
    const step = steps[Math.min(count++, steps.length - 1)]!;
    return typeof step === 'function' ? step(call) : step;
  };
};

export const valid: Plan = (call) => ({ status: 200, body: { isValid: true, payer: authorizationOf(call).from } });
export const settled: Plan = (call) => {
  const { from, nonce } = authorizationOf(call);
  return {
    status: 200,
    body: { success: true, transaction: transactionOf(nonce), network: 'eip155:8453', payer: from },
  };
};

export class Facilitated {
  readonly jobs: JobsServer;
  readonly facilitator: FakeFacilitator;
  readonly #plans: Map<string, Plan>;

  constructor(jobs: JobsServer, facilitator: FakeFacilitator, plans: Map<string, Plan>) {
    this.jobs = jobs;
    this.facilitator = facilitator;
    this.#plans = plans;
  }

  /** What happens to the calls of one payment; without a plan it verifies and settles. */
  plan(payment: Payment, path: '/verify' | '/settle', ...steps: (Step | Plan)[]): void {
    this.#plans.set(`${path} ${payment.payload.authorization.nonce}`, inOrder(steps));
  }

  callsOf(payment: Payment, path: '/verify' | '/settle'): FacilitatorCall[] {
    const { nonce } = payment.payload.authorization;
    return this.facilitator.callsOf(path).filter((call) => authorizationOf(call).nonce === nonce);
  }

  payment(account: PrivateKeyAccount, path: string = this.jobs.search): Promise<Payment> {
    return this.jobs.payment(path, account);
  }

  async close(): Promise<number | null> {
    const code = await this.jobs.server.stop();
    await this.facilitator.close();
    return code;
  }
}

export const FACILITATOR_TOKEN = 'token-canary-91c2';

export async function openFacilitated(
  runtime: Runtime,
  payTo: string,
  variables: Record<string, string> = {},
): Promise<Facilitated> {
  const plans = new Map<string, Plan>();
  const planned =
    (path: string, otherwise: Plan): Plan =>
    (call) =>
      (plans.get(`${path} ${authorizationOf(call).nonce}`) ?? otherwise)(call);
  const facilitator = await new FakeFacilitator({
    '/supported': [{ status: 200, body: { kinds: [], extensions: [], signers: {} } }],
    '/verify': planned('/verify', valid),
    '/settle': planned('/settle', settled),
  }).listen();
  const jobs = await startJobsServer(runtime, {
    SETTLEMENT: 'facilitator',
    FACILITATOR_URL: facilitator.url,
    FACILITATOR_TOKEN,
    PAY_TO: payTo,
    ...variables,
  });
  return new Facilitated(jobs, facilitator, plans);
}

/** 503 without an offer; the payer is told not to sign again, and what is known of the transaction. */
export function expectPending(answer: Answer, transaction: string): void {
  expectError(answer, 503, 'SETTLEMENT_PENDING');
  const receipt = receiptOf(answer);
  if (
    receipt.success !== false ||
    receipt.errorReason !== 'settlement_pending' ||
    receipt.transaction !== transaction
  ) {
    throw new Error(`not the receipt of a pending settlement: ${JSON.stringify(receipt)}`);
  }
  if (!/^[1-9][0-9]*$/.test(answer.headers.get('retry-after') ?? '')) throw new Error('no Retry-After');
}

/** 503 without an offer and without a receipt: nothing was charged. */
export function expectUnavailable(answer: Answer): void {
  expectError(answer, 503, 'SETTLEMENT_UNAVAILABLE');
  if (answer.headers.get('payment-response') !== null) throw new Error('a receipt for nothing');
  if (!/^[1-9][0-9]*$/.test(answer.headers.get('retry-after') ?? '')) throw new Error('no Retry-After');
}
