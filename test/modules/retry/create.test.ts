/** What a creation holds while it waits: a look-up may take seconds, and a body has a quarter of a mebibyte. */
import { expect, it } from 'vitest';
import { createRetry } from '../../../src/modules/retry/create.ts';

it('holds the body of a creation once while its names are looked up', async () => {
  const request = { bodyBytes: new Uint8Array(1) };
  const seen: unknown[] = [];
  const lookUp = async (): Promise<string> => {
    seen.push(request.bodyBytes);
    return 'blocked';
  };
  const input = { body: { order: {}, targets: [{ field: 'request.url', target: {} }] } };
  const principal = { organization: 'acme' };
  await createRetry.handle(input as never, { outbound: { lookUp } } as never, request as never, principal as never);
  expect(seen).toEqual([undefined]);
});
