/** What the commands about keys and credits do, wherever the accounts are. Methods throw a CommandError of one line. */
import type { Accounts, GrantDraft, KeyDraft, NotChanged } from '../../accounts/accounts.ts';
import {
  type CreatedKey,
  createdKeyOf,
  type GrantRecord,
  grantRecordOf,
  type ListedKey,
  listedKeyOf,
  type OrganizationRecord,
  organizationRecordOf,
} from '../../modules/admin/account-records.ts';
import { CommandError } from '../command.ts';

export interface OperatorAccounts {
  createKey(draft: KeyDraft): Promise<CreatedKey>;
  listKeys(organization: string | undefined): Promise<readonly ListedKey[]>;
  revokeKey(id: string): Promise<void>;
  grant(draft: GrantDraft): Promise<GrantRecord>;
  organization(name: string): Promise<OrganizationRecord>;
}

/** @throws CommandError always */
function failed(why: NotChanged): never {
  switch (why.kind) {
    case 'unavailable':
      throw new CommandError(why.detail);
    case 'full':
      throw new CommandError(
        'there are as many keys, organizations, or grants of one organization as a state may hold',
      );
    default:
      throw new Error(`a store refuses a command nothing as ${why.kind}`);
  }
}

/** The operations over the accounts of a store. */
export const over = (accounts: Accounts): OperatorAccounts => ({
  async createKey(draft) {
    const created = await accounts.createKey(draft);
    return created.kind === 'created' ? createdKeyOf(created.key, created.text) : failed(created);
  },
  async listKeys(organization) {
    return (await accounts.listKeys(organization)).map(listedKeyOf);
  },
  async revokeKey(id) {
    const revocation = await accounts.revokeKey(id);
    if (revocation.kind === 'unknown') throw new CommandError('there is no such key');
    if (revocation.kind !== 'revoked') failed(revocation);
  },
  async grant(draft) {
    const granted = await accounts.grant(draft);
    return granted.kind === 'granted' ? grantRecordOf(draft, granted.remaining) : failed(granted);
  },
  async organization(name) {
    const found = await accounts.organization(name);
    if (found === undefined) throw new CommandError(`there is no organization ${name}`);
    return organizationRecordOf(found);
  },
});
