import { expect, it } from 'vitest';
import { newKeyId } from '../../../src/accounts/key.ts';
import { StoredKeys } from '../../../src/storage/memory/stored-keys.ts';
import { Chance } from '../../support/chance.ts';

it.each([6, 16, 31])('a digest that differs from a key’s in byte %i alone finds no key', (place) => {
  const random = new Chance(1);
  const keys = new StoredKeys();
  const digest = random.bytes(32);
  keys.add({
    id: newKeyId(random),
    organization: 'acme',
    scopes: [],
    digest,
    createdAtMs: 0,
    expiresAtMs: null,
    lastUsedAtMs: null,
    revokedAtMs: null,
  });
  expect(keys.findByDigest(Uint8Array.from(digest))?.holder.organization).toBe('acme');
  const other = Uint8Array.from(digest);
  other[place]! ^= 1;
  expect(keys.findByDigest(other)).toBeUndefined();
});
