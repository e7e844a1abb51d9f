/** The operator's way in: `ADMIN_TOKEN` (siblings §3). */
import { type SecretHolder, secretToken } from './secret-token.ts';

/** The services that a module needs for operations of the operator. */
export interface AdminServices {
  readonly operator: SecretHolder;
}

export const adminToken = secretToken<AdminServices>({
  name: 'adminToken',
  variable: 'ADMIN_TOKEN',
  description: 'The token of the operator',
  refused: 'the admin token of this server',
  holderOf: ({ operator }) => operator,
});
