/**
 * The operator's way in: the `ADMIN_TOKEN` of the configuration as a bearer token (siblings §3). It decides before the input.
 * No public document names its operations.
 */
import type { Access } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED } from '../http/errors.ts';
import { INVALID_AUTHORIZATION, INVALID_TOKEN, MISSING_AUTHORIZATION } from './bearer-token.ts';
import { type SecretHolder, tokenGate } from './secret-token.ts';

/** The services that a module needs for operations of the operator. */
export interface AdminServices {
  readonly operator: SecretHolder;
}

export const adminToken: Access<object, AdminServices> = {
  errors: [MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_TOKEN, RATE_LIMIT_EXCEEDED],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <ADMIN_TOKEN>`',
    security: {
      name: 'adminToken',
      scheme: { type: 'http', scheme: 'bearer', description: 'The token of the operator' },
    },
  },
  isBeforeInput: true,
  isPrivate: true,
  isPresented: (request) => request.header('authorization') !== null,
  open: ({ operator }) => tokenGate(operator, 'the admin token of this server'),
};
