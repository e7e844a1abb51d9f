/** The way in of gates to a jobs service: `ENGINE_TOKEN` (siblings §8). */
import { type SecretHolder, secretToken } from './secret-token.ts';

/** The services that a module needs for operations of gates. */
export interface EngineServices {
  readonly gates: SecretHolder;
}

export const engineToken = secretToken<EngineServices>({
  name: 'engineToken',
  variable: 'ENGINE_TOKEN',
  description: 'The token between gates and jobs services',
  refused: 'the token of this jobs service',
  holderOf: ({ gates }) => gates,
});
