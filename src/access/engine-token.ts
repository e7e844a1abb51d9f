/**
 * The way in of gates to a jobs service: `ENGINE_TOKEN` as a bearer token, before the input (siblings §8). No public document
 * names its operations.
 */
import type { Access } from '../http/access.ts';
import { RATE_LIMIT_EXCEEDED } from '../http/errors.ts';
import { INVALID_AUTHORIZATION, INVALID_TOKEN, MISSING_AUTHORIZATION } from './bearer-token.ts';
import { type SecretHolder, tokenGate } from './secret-token.ts';

/** The services that a module needs for operations of gates. */
export interface EngineServices {
  readonly gates: SecretHolder;
}

export const engineToken: Access<object, EngineServices> = {
  errors: [MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_TOKEN, RATE_LIMIT_EXCEEDED],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <ENGINE_TOKEN>`',
    security: {
      name: 'engineToken',
      scheme: { type: 'http', scheme: 'bearer', description: 'The token between gates and jobs services' },
    },
  },
  isBeforeInput: true,
  isPrivate: true,
  isPresented: (request) => request.header('authorization') !== null,
  open: ({ gates }) => tokenGate(gates, 'the token of this jobs service'),
};
