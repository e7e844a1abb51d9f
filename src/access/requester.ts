/** Who asks for something that costs: the holder of an API key, or the payer of a verified payment. */
import type { KeyPrincipal } from './api-key.ts';
import type { Payer } from './x402.ts';

/** @typeParam D as {@link Payer}'s */
export type Requester<D = unknown> = KeyPrincipal | Payer<D>;
