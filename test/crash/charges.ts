/**
 * Charges of credits under kills: what clients were charged, held against what the server has on record after each restart
 * (siblings §3: a charge survives a kill once its answer was sent; a kill before that loses at most the charge).
 */
import type { Chance } from '../support/chance.ts';
import { type Answer, codeOf } from './harness.ts';
import { BrokenPromise } from './oracle.ts';

export const ADMIN_TOKEN = 'operator-of-the-crash-harness-0123456789';
const ORGANIZATION = 'crash';
/** Enough for every charge of a run: the audit checks what was taken, not what is refused. */
const GRANTED = 1_000_000_000;
const RECORD_COUNT_MAX = 7;

type Ask = (path: string, init?: RequestInit) => Promise<Answer | undefined>;

export class ChargeNotes {
  /** Charges whose answers came, over all processes. */
  answeredCount = 0;
  #key: string | undefined;
  /** Credits on record at the last audit. */
  #recorded = 0;
  /** Credits since then: of answers that came, and of requests without an answer. */
  #answered = 0;
  #unanswered = 0;
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Makes the organization at the first start. @throws BrokenPromise */
  async open(): Promise<void> {
    if (this.#key !== undefined) return;
    await this.#operate('/admin/v1/grants', { organization: ORGANIZATION, kind: 'onboarding', amount: GRANTED });
    const body = await this.#operate('/admin/v1/keys', { organization: ORGANIZATION, scopes: ['jobs:read'] });
    this.#key = (JSON.parse(body) as { key: string }).key;
  }

  /** One request that costs some credits. @returns whether it was answered @throws BrokenPromise */
  async charge(chance: Chance): Promise<boolean> {
    const cost = chance.wholeBetween(1, RECORD_COUNT_MAX);
    const headers = { authorization: `Bearer ${this.#key}` };
    this.#unanswered += cost;
    const answer = await this.#ask(`/data/v1/jobs?limit=${cost}`, { headers });
    if (answer === undefined) return false;
    const code = codeOf(answer);
    const isRefused = answer.status === 429 || (answer.status === 503 && code === 'OVERLOADED');
    if (!isRefused && answer.headers.get('x-credits-charged') !== String(cost)) {
      throw new BrokenPromise(`an answer of ${cost} records is ${answer.status} ${code}`);
    }
    this.#unanswered -= cost;
    if (isRefused) return false;
    this.#answered += cost;
    this.answeredCount++;
    return true;
  }

  /** After a restart, before any other charge. @throws BrokenPromise when a charge was lost or doubled */
  async audit(): Promise<void> {
    const answer = await this.#ask(`/admin/v1/organizations/${ORGANIZATION}`, { headers: OPERATOR });
    if (answer?.status !== 200) throw new BrokenPromise(`no organization: ${answer?.status} ${answer?.text}`);
    const { remaining } = JSON.parse(answer.text ?? '') as { remaining: number };
    const taken = GRANTED - remaining - this.#recorded;
    const about = `${taken} credits on record, ${this.#answered} answered, ${this.#unanswered} without an answer`;
    if (taken < this.#answered) throw new BrokenPromise(`a charge was answered and is lost: ${about}`);
    if (taken > this.#answered + this.#unanswered) throw new BrokenPromise(`a charge was taken twice: ${about}`);
    this.#recorded += taken;
    this.#answered = 0;
    this.#unanswered = 0;
  }

  async #operate(path: string, body: object): Promise<string> {
    const headers = { ...OPERATOR, 'content-type': 'application/json' };
    const answer = await this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer?.status !== 201) throw new BrokenPromise(`${path} is ${answer?.status} ${answer?.text}`);
    return answer.text ?? '';
  }
}

const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}` };
