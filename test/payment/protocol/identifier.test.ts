import { expect, it } from 'vitest';
import { IDENTIFIER_DECLARATION } from '../../../src/payment/protocol/identifier.ts';

it('offers ask for identifiers of 16 to 128 characters (x402-v2 §6.6)', () => {
  expect(IDENTIFIER_DECLARATION.schema.properties.id).toMatchObject({ minLength: 16, maxLength: 128 });
});
