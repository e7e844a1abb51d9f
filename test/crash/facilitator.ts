/**
 * The facilitator of the crash harness: it outlives every server, counts the money that it moved for each nonce, and is slow
 * or faulty by a plan that follows from the nonce. Like a real one it moves a nonce once and answers a repeat of the same
 * body with the first transaction; a repeat that no honest server sends is kept as a complaint.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { type FacilitatorCall, FakeFacilitator, type Step } from '../support/fake-facilitator.ts';
import type { Authorization } from '../support/wallet.ts';

/** How the facilitator treats one authorization, and the weight of each plan. A plan has one fault; after it all goes well. */
export const PLANS = {
  plain: 70,
  /** Settlement takes long and goes well: time for a client to go away. */
  slow: 5,
  /** Verification says no, once. */
  'verify-refused': 3,
  /** Verification answers 503, once. */
  'verify-down': 3,
  /** Settlement says no and moves nothing, once. */
  'settle-refused': 6,
  /** The money moves, and the answer is status 500, a reset, or none at all. */
  'moved-500': 5,
  'moved-reset': 4,
  'moved-hang': 3,
  /** Status 500, and nothing moved. */
  'unmoved-500': 3,
  /** settlement_pending with a hash, the money moves with the repeat. */
  pending: 3,
} as const;
export type Plan = keyof typeof PLANS;

export const STAGES = [
  'verify-arrived',
  'verify-answered',
  'settle-arrived',
  'settle-moved',
  'settle-answered',
] as const;
export type Stage = (typeof STAGES)[number];

/** The history of one nonce. */
export interface Movement {
  readonly plan: Plan;
  /** The last stage reached. */
  stage: Stage;
  verifyCount: number;
  settleCount: number;
  /** Times that money moved: 0 or 1, or the server is at fault. */
  movedCount: number;
  /** The last answer was a definite refusal. */
  isRefused: boolean;
  /** The body of the last settle request. */
  body: string;
  /** The server told a client that this is settled, so it must not ask for a settlement again. */
  isOnRecord: boolean;
  /** The first success was answered: milliseconds since 1970; undefined before. */
  answeredAtMs: number | undefined;
}

const SLOW_MS = 40;
const VERY_SLOW_MS = 500;

export const hashOf = (nonce: string): string => `0x${[...nonce.slice(2)].reverse().join('')}`;

export class CountingFacilitator {
  readonly #server: FakeFacilitator;
  readonly #chance: Chance;
  readonly #movements = new Map<string, Movement>();
  readonly complaints: string[] = [];
  /** Called at each stage; kills are aimed with it. */
  onStage: (stage: Stage) => void = () => {};
  /** False: every plan is plain. */
  hasFaults = true;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#server = new FakeFacilitator({
      '/supported': [{ status: 200, body: { kinds: [], extensions: [], signers: {} } }],
      '/verify': (call) => this.#verify(call),
      '/settle': (call) => this.#settle(call),
    });
  }

  get url(): string {
    return this.#server.url;
  }

  async listen(): Promise<this> {
    await this.#server.listen();
    return this;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  movementOf(nonce: string): Movement | undefined {
    return this.#movements.get(nonce);
  }

  /** Money movements so far. */
  get movedCount(): number {
    let count = 0;
    for (const { movedCount } of this.#movements.values()) count += movedCount;
    return count;
  }

  #movement(nonce: string): Movement {
    let movement = this.#movements.get(nonce);
    if (movement === undefined) {
      movement = {
        plan: this.#chance.named('plan', nonce).weighted(PLANS),
        stage: 'verify-arrived',
        verifyCount: 0,
        settleCount: 0,
        movedCount: 0,
        isRefused: false,
        body: '',
        isOnRecord: false,
        answeredAtMs: undefined,
      };
      this.#movements.set(nonce, movement);
    }
    return movement;
  }

  #reach(movement: Movement, stage: Stage): void {
    movement.stage = stage;
    this.onStage(stage);
  }

  /** After the step has been written to the socket. */
  #answered(movement: Movement, stage: Stage, step: Step): Step {
    setImmediate(() => this.#reach(movement, stage));
    return step;
  }

  #slowness(nonce: string, part: string): Promise<void> {
    const chance = this.#chance.named(part, nonce);
    return chance.is(0.5) ? Promise.resolve() : pause(chance.below(SLOW_MS));
  }

  async #verify(call: FacilitatorCall): Promise<Step> {
    const { from, nonce } = authorizationOf(call);
    const movement = this.#movement(nonce);
    const isFirst = movement.verifyCount++ === 0;
    this.#reach(movement, 'verify-arrived');
    await this.#slowness(nonce, 'verify');
    const answered = (step: Step): Step => this.#answered(movement, 'verify-answered', step);
    if (isFirst && this.hasFaults && movement.plan === 'verify-refused') {
      return answered({ status: 200, body: { isValid: false, invalidReason: 'insufficient_funds', payer: from } });
    }
    if (isFirst && this.hasFaults && movement.plan === 'verify-down') return answered({ status: 503, body: {} });
    return answered({ status: 200, body: { isValid: true, payer: from } });
  }

  async #settle(call: FacilitatorCall): Promise<Step> {
    const { from, nonce } = authorizationOf(call);
    const movement = this.#movement(nonce);
    const isFirst = movement.settleCount++ === 0;
    if (movement.isOnRecord) this.complaints.push(`${nonce} is settled again after it was on record as settled`);
    if (movement.body !== '' && movement.body !== call.body) {
      this.complaints.push(`${nonce} is settled with another body than before`);
      movement.movedCount++; // another body moves money a second time
    }
    movement.body = call.body;
    movement.isRefused = false;
    this.#reach(movement, 'settle-arrived');
    await this.#slowness(nonce, 'settle');
    const { plan } = movement;
    const isFaulty = isFirst && this.hasFaults;
    const answered = (step: Step): Step => this.#answered(movement, 'settle-answered', step);
    if (isFaulty && plan === 'settle-refused') {
      movement.isRefused = true;
      return answered({
        status: 200,
        body: {
          success: false,
          errorReason: 'insufficient_funds',
          transaction: '',
          network: 'eip155:8453',
          payer: from,
        },
      });
    }
    if (isFaulty && plan === 'unmoved-500') return answered({ status: 500, body: { error: 'down' } });
    const transaction = hashOf(nonce);
    if (isFaulty && plan === 'pending') {
      const errorReason = 'settlement_pending';
      return answered({
        status: 200,
        body: { success: false, errorReason, transaction, network: 'eip155:8453', payer: from },
      });
    }
    if (plan === 'slow' && this.hasFaults) await pause(VERY_SLOW_MS);
    if (movement.movedCount === 0) movement.movedCount = 1;
    this.#reach(movement, 'settle-moved');
    await this.#slowness(nonce, 'settled');
    if (isFaulty && plan === 'moved-500') return answered({ status: 500, body: { error: 'down' } });
    if (isFaulty && plan === 'moved-reset') return answered('reset');
    if (isFaulty && plan === 'moved-hang') return 'hang';
    movement.answeredAtMs ??= Date.now();
    return answered({ status: 200, body: { success: true, transaction, network: 'eip155:8453', payer: from } });
  }
}

const authorizationOf = (call: FacilitatorCall): Authorization =>
  (JSON.parse(call.body) as { paymentPayload: { payload: { authorization: Authorization } } }).paymentPayload.payload
    .authorization;
