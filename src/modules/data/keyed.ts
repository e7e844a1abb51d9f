/** The ways in of the keyed operations, in the order of siblings §3: key, scope, rate, overload, credits. */
import { apiKey } from '../../access/api-key.ts';
import { type CreditCost, costs } from '../../access/credits.ts';
import { perKey } from '../../access/key-rate.ts';
import { unlessOverloaded } from '../../access/overload.ts';
import type { Scope } from '../../accounts/scopes.ts';

export const keyed = (scope: Scope, cost: CreditCost) =>
  [apiKey(scope), perKey, unlessOverloaded, costs(cost)] as const;
