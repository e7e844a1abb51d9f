/**
 * The organization that a start with play money creates if there is none, so that the keyed routes can be tried at once
 * (siblings §3). Its keys are valid only with `SETTLEMENT=local`.
 */
import type { Accounts } from '../accounts/accounts.ts';
import { DEMO_CREDITS, DEMO_ORGANIZATION } from '../accounts/organization.ts';
import { SCOPES } from '../accounts/scopes.ts';

/**
 * @returns the text of its key, which must not be logged; undefined when there is an organization already, or when the state
 *   cannot be written
 */
export async function openDemoOrganization(accounts: Accounts): Promise<string | undefined> {
  if (await accounts.hasOrganizations()) return undefined;
  const organization = DEMO_ORGANIZATION;
  // Both are started together and share a commit, so a kill leaves no key without credits and no credits without a key.
  const [created] = await Promise.all([
    accounts.createKey({ organization, scopes: SCOPES, expiresAtMs: null }),
    accounts.grant({ organization, kind: 'onboarding', amount: DEMO_CREDITS, expiresAtMs: null }),
  ]);
  return created.kind === 'created' ? created.text : undefined;
}
