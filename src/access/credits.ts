/**
 * Credits (siblings §3): a success costs the key's organization credits for what the answer holds. The charge is on record
 * before the answer leaves; only a success is charged, and no balance becomes negative. The answer states its charge, so it is
 * written after the charge (`ChargedAnswer`). Stands after an API key.
 */
import type { Accounts, Charge } from '../accounts/accounts.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import { type Access, type Admission, type WayIn, waysIn } from '../http/access.ts';
import { AfterSettlement, type Created, type HeaderRecord } from '../http/answers.ts';
import { defineErrors, type Refusal, refuse, STATE_UNAVAILABLE, stateUnavailable } from '../http/errors.ts';
import type { KeyPrincipal } from './api-key.ts';
import type { Requester } from './requester.ts';

export const { INSUFFICIENT_CREDITS } = defineErrors({ INSUFFICIENT_CREDITS: { status: 402 } });

/** The services that a module needs for operations that cost credits. */
export interface CreditServices {
  readonly accounts: Accounts;
}

/** What an answer cost and what is left, in whole credits. */
export interface CreditsCharged {
  readonly charged: number;
  readonly remaining: number;
}

const notCharged = (): never => {
  throw new Error('a charged answer is written after its charge');
};

/** An answer with its cost in credits, written once it is charged. */
export class ChargedAnswer<T> extends AfterSettlement<T, undefined> {
  readonly cost: number;
  readonly buy: (() => Promise<Charge>) | undefined;
  charged: CreditsCharged | undefined;

  /**
   * @param write makes the body; everything that can fail has happened before this call
   * @param buy charges the cost together with what it buys, where that is a record of its own
   */
  constructor(cost: number, write: (credits: CreditsCharged) => Created<T>, buy?: () => Promise<Charge>) {
    super(undefined, () => write(this.charged ?? notCharged()));
    this.cost = cost;
    this.buy = buy;
  }
}

/** The headers of a success with a key (siblings §3). */
export const creditHeaders = ({ charged, remaining }: CreditsCharged): HeaderRecord => ({
  'x-credits-charged': String(charged),
  'x-credits-remaining': String(remaining),
});

const creditsText = (count: number): string => `${count} credit${count === 1 ? '' : 's'}`;

function settled(answer: ChargedAnswer<unknown>, charge: Charge): HeaderRecord | Refusal {
  const { cost } = answer;
  switch (charge.kind) {
    case 'charged':
      answer.charged = { charged: cost, remaining: charge.remaining };
      return creditHeaders(answer.charged);
    case 'insufficient':
      return refuse(
        INSUFFICIENT_CREDITS,
        `this answer costs ${creditsText(cost)} and the organization has ${charge.remaining}`,
      );
    case 'unavailable':
      return stateUnavailable('credits cannot be charged now; try again later', charge.detail);
    default:
      return charge satisfies never;
  }
}

/** What an operation costs: a number of credits per answer, or `record`: one credit per record of the answer. */
export type CreditCost = number | 'record';

const header = (description: string, isAlwaysSent: boolean) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  isAlwaysSent,
});

/** @param isAlwaysSent false: a success may come without them, because it needs no key, or because the balance was away */
const documentedHeaders = (isAlwaysSent: boolean) => ({
  'X-Credits-Charged': header('Credits that this answer cost', isAlwaysSent),
  'X-Credits-Remaining': header('Credits that the organization has left', isAlwaysSent),
});

const sentenceOf = (cost: CreditCost): string =>
  cost === 'record' ? 'Costs 1 credit for each record of the answer' : `Costs ${creditsText(cost)}`;

/** A way in that costs credits. */
export interface CreditAccess<N extends object = object> extends Access<object, CreditServices, N> {
  readonly cost: CreditCost;
}

/** What an operation costs in credits, or undefined for one that costs none. */
export const creditsOf = (access: readonly WayIn[]): CreditCost | undefined =>
  waysIn(access).flatMap((way) => (way as Partial<CreditAccess>).cost ?? [])[0];

/** Charges the organization of the key. */
const charging = (accounts: Accounts, { organization }: KeyPrincipal): Admission => ({
  settle(answer): MaybePromise<HeaderRecord | Refusal> {
    if (!(answer instanceof ChargedAnswer)) throw new Error('an operation that costs credits gave no ChargedAnswer');
    const bought = answer.buy?.() ?? accounts.charge(organization, answer.cost);
    return chain(bought, (charge) => settled(answer, charge));
  },
});

const described = (cost: CreditCost, isKeyOptional: boolean) => ({
  cost,
  errors: [INSUFFICIENT_CREDITS, STATE_UNAVAILABLE],
  documentation: {
    sentence: isKeyOptional ? `With an API key: ${sentenceOf(cost).toLowerCase()}` : sentenceOf(cost),
    guide:
      'Only successes are charged, before the answer leaves. `X-Credits-Charged` and `X-Credits-Remaining` say what an answer ' +
      'cost and what is left; an empty list costs nothing. Without enough credits the answer is 402 `INSUFFICIENT_CREDITS`.',
    operation: { 'x-credits': cost === 'record' ? { per_record: 1 } : { per_answer: cost } },
    answerHeaders: documentedHeaders(!isKeyOptional),
  },
});

/** Charges the organization of the key. The handler of such an operation answers with a {@link ChargedAnswer}. */
export const costs = (cost: CreditCost): CreditAccess<KeyPrincipal> => ({
  ...described(cost, false),
  open: ({ accounts }) => ({ admit: (_, holder) => charging(accounts, holder) }),
});

/** The same for an operation that can be paid for instead. */
export const costsWithKey = (cost: CreditCost): CreditAccess<Requester> => ({
  ...described(cost, true),
  open: ({ accounts }) => ({
    admit: (_, requester) => ('organization' in requester ? charging(accounts, requester) : undefined),
  }),
});

/**
 * For operations that a key opens and that cost nothing: their successes with a key state the credits too. What the operation
 * did stands, so a balance that cannot be read only leaves the headers out.
 */
export const costsNothing: Access<object, CreditServices, Partial<KeyPrincipal>> = {
  errors: [],
  documentation: { answerHeaders: documentedHeaders(false) },
  open: ({ accounts }) => ({
    admit(_, { organization }) {
      if (organization === undefined) return undefined;
      return {
        settle: () =>
          chain(accounts.charge(organization, 0), (charge) =>
            charge.kind === 'charged' ? creditHeaders({ charged: 0, remaining: charge.remaining }) : undefined,
          ),
      };
    },
  }),
};
