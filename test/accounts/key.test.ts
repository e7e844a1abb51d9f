/** Keys, ids, scopes and names (siblings §3): what has their form, and that new ones do. */
import { describe, expect, it } from 'vitest';
import { isKeyId, keyDigestOf, newKeyId, newSecret } from '../../src/accounts/key.ts';
import { isOrganizationName } from '../../src/accounts/organization.ts';
import { parseScope, SCOPES } from '../../src/accounts/scopes.ts';
import { sha256 } from '../../src/base/digest.ts';
import { Chance } from '../support/chance.ts';

describe('a key', () => {
  const random = new Chance(7);

  it('is new each time, in the form of the contract, with a digest that is its SHA-256', () => {
    const secrets = new Map(Array.from({ length: 1000 }, () => newSecret(random)).map((one) => [one.text, one.digest]));
    expect(secrets.size).toBe(1000);
    for (const [text, digest] of secrets) {
      expect(text).toMatch(/^svc_key_[A-Za-z0-9_-]{43}$/);
      expect(digest).toEqual(sha256(text));
      expect(keyDigestOf(text)).toEqual(digest);
    }
  });

  it('has an id of letters and digits that are equally likely', () => {
    const counts = new Map<string, number>();
    const COUNT = 5000;
    const refused: string[] = [];
    for (let i = 0; i < COUNT; i++) {
      const id = newKeyId(random);
      if (!isKeyId(id)) refused.push(id);
      for (const letter of id.slice('key_'.length)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(refused).toEqual([]);
    const expected = (COUNT * 24) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
  });

  it.each([
    '',
    'svc_key_',
    `svc_key_${'a'.repeat(42)}`,
    `svc_key_${'a'.repeat(44)}`,
    `svc_key_${'a'.repeat(42)}+`,
    `svc_key_${'a'.repeat(42)}=`,
    `svc_key_${'a'.repeat(43)}\n`,
    ` svc_key_${'a'.repeat(43)}`,
    `SVC_KEY_${'a'.repeat(43)}`,
    `svc_cb_sk_${'a'.repeat(41)}`,
  ])('is not %j, which is not even hashed', (text) => {
    expect(keyDigestOf(text)).toBeUndefined();
  });

  it.each([
    '',
    'key_',
    `key_${'a'.repeat(23)}`,
    `key_${'a'.repeat(25)}`,
    `key_${'a'.repeat(23)}-`,
    `key_${'a'.repeat(24)}\n`,
    `svc_key_${'a'.repeat(24)}`,
  ])('has no id like %j', (text) => {
    expect(isKeyId(text)).toBe(false);
  });
});

it.each([
  ['a', true],
  ['acme-2', true],
  ['-', true],
  ['0'.repeat(64), true],
  ['', false],
  ['0'.repeat(65), false],
  ['Acme', false],
  ['acme_2', false],
  ['acme.example', false],
  ['acme\n', false],
  [' acme', false],
  ['ä', false],
])('the name %j is one of an organization: %s', (name, isOne) => {
  expect(isOrganizationName(name)).toBe(isOne);
});

it('a scope is one of the contract’s, to the letter', () => {
  for (const scope of SCOPES) expect(parseScope(scope)).toBe(scope);
  for (const other of ['', 'jobs', 'jobs:write', 'JOBS:READ', 'jobs:read ', 'toString']) {
    expect([other, parseScope(other)]).toEqual([other, undefined]);
  }
});
