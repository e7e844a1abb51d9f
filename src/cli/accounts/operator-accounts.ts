/** What the commands about keys and credits do, wherever the accounts are. Methods throw CommandError, one line. */
import type { GrantDraft, KeyDraft } from '../../accounts/accounts.ts';
import type { CreatedKey, GrantRecord, ListedKey, OrganizationRecord } from '../../modules/admin/account-records.ts';

export interface OperatorAccounts {
  createKey(draft: KeyDraft): Promise<CreatedKey>;
  listKeys(organization: string | undefined): Promise<readonly ListedKey[]>;
  revokeKey(id: string): Promise<void>;
  grant(draft: GrantDraft): Promise<GrantRecord>;
  organization(name: string): Promise<OrganizationRecord>;
}
