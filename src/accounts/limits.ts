/** Limits of accounts. */
import { DAY_MS } from '../base/durations.ts';

/** Keys of all organizations together, revoked and expired ones too: about 50 MB of memory. */
export const KEY_COUNT_MAX = 100_000;

/** Organizations that have a grant or a key. */
export const ORGANIZATION_COUNT_MAX = 100_000;

/** Onboarding grants of one organization, used up and lapsed ones too; a charge looks at all of them. */
export const GRANT_COUNT_MAX = 10_000;

/** Credits of one grant. */
export const AMOUNT_MAX = 100_000_000_000;

// The credits of one organization, including the subscription, must add up to a safe integer.
if ((GRANT_COUNT_MAX + 1) * AMOUNT_MAX > Number.MAX_SAFE_INTEGER) throw new Error('balances would not be exact');

/** Lapsed onboarding grants stay on record this long, so that a clock set forward by mistake destroys no credits. */
export const LAPSED_KEPT_MS = 35 * DAY_MS;
