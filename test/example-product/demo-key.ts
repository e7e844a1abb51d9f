/**
 * A made-up way in: a demo key in the `Authorization` header. It shows all that a way in brings: its error codes, what
 * documents say of it, and the admitter, which tells the handler whose key it is.
 */
import { bearerToken, CHALLENGE, INVALID_AUTHORIZATION, MISSING_AUTHORIZATION } from '../../src/access/bearer-token.ts';
import type { Access } from '../../src/http/access.ts';
import { BEARER_CHALLENGE, defineErrors, Refusal, refuse } from '../../src/http/errors.ts';

export const { INVALID_DEMO_KEY } = defineErrors({
  INVALID_DEMO_KEY: { status: 401, headers: BEARER_CHALLENGE },
});

/** What a module with keyed operations has among its services. */
export interface DemoKeyServices {
  /** Account by key. */
  readonly keys: ReadonlyMap<string, string>;
}

/** What a key says of the requester. */
export interface Account {
  readonly account: string;
}

export const demoKey: Access<Account, DemoKeyServices> = {
  errors: [MISSING_AUTHORIZATION, INVALID_AUTHORIZATION, INVALID_DEMO_KEY],
  documentation: {
    sentence: 'Needs `Authorization: Bearer <demo key>`',
    security: { name: 'demoKey', scheme: { type: 'http', scheme: 'bearer', description: 'A demo key' } },
  },
  isPresented: (request) => request.header('authorization') !== null,
  isBeforeInput: true,
  isPrivate: true,
  open: ({ keys }) => ({
    admit(request) {
      const token = bearerToken(request.header('authorization'));
      if (token instanceof Refusal) return token;
      const account = keys.get(token);
      if (account === undefined) return refuse(INVALID_DEMO_KEY, 'this server knows no such demo key', CHALLENGE);
      return { principal: { account } };
    },
  }),
};
