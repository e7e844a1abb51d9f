/** Refusals of the operator's changes to keys and credits. */
import type { NotChanged } from '../../accounts/accounts.ts';
import { DEMO_ORGANIZATION } from '../../accounts/organization.ts';
import {
  defineErrors,
  INVALID_BODY,
  type Refusal,
  refuse,
  STATE_UNAVAILABLE,
  stateUnavailable,
} from '../../http/errors.ts';

export const { ORGANIZATION_NOT_FOUND, KEY_NOT_FOUND, ACCOUNTS_FULL } = defineErrors({
  ORGANIZATION_NOT_FOUND: { status: 404 },
  KEY_NOT_FOUND: { status: 404 },
  /** The number of records has reached its bound. */
  ACCOUNTS_FULL: { status: 409 },
});

/** Codes of {@link notChanged}, for the `errors` of a route. */
export const CHANGE_ERRORS = [STATE_UNAVAILABLE, ACCOUNTS_FULL, INVALID_BODY] as const;

/** The refusal of a change that was not made. */
export function notChanged(why: NotChanged): Refusal<(typeof CHANGE_ERRORS)[number]['code']> {
  switch (why.kind) {
    case 'unavailable':
      return stateUnavailable('the state cannot be written now; try again later', why.detail);
    case 'full':
      return refuse(ACCOUNTS_FULL, 'this server keeps no more keys, organizations, or grants of one organization');
    case 'play-only':
      return refuse(
        INVALID_BODY,
        `\`organization\` must be another one: ${DEMO_ORGANIZATION} holds with SETTLEMENT=local only`,
      );
    default:
      return why satisfies never;
  }
}
