/** The security requirements of the OpenAPI document: all schemes of a choice together, the choices as alternatives. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type Access, anyOf, type WayIn } from '../../src/http/access.ts';
import { openApiOf } from '../../src/http/documents/openapi.ts';
import { bind } from '../../src/http/operation.ts';
import { route } from '../../src/http/route.ts';

const way = (name?: string): Access<object, unknown> => ({
  errors: [],
  documentation: name === undefined ? {} : { security: { name, scheme: { type: 'http', scheme: 'bearer' } } },
  isPresented: () => true,
  open: () => ({ admit: () => undefined }),
});

const [key, token, payment] = [way('key'), way('token'), way()] as const;

function securityOf(access: readonly WayIn<object, unknown>[]): unknown {
  const declared = route()({
    operation: 'ask',
    method: 'GET',
    path: '/ask',
    summary: 'ask',
    access,
    answer: v.any(),
    errors: [],
    handle: () => ({}),
  });
  const facts = { title: 't', description: 'd', version: '1', serverUrl: 'http://h', tags: {} };
  const document = openApiOf(bind('asks', [declared], undefined), facts) as {
    paths: Record<string, { get: { security?: unknown } }>;
  };
  return document.paths['/ask']?.get.security;
}

describe('the published security requirements', () => {
  it.each([
    ['open to all', [], undefined],
    ['a payment', [payment], undefined],
    ['a key', [key], [{ key: [] }]],
    ['a key and a payment', [key, payment], [{ key: [] }]],
    ['a key and a token', [key, token], [{ key: [], token: [] }]],
    ['a key or a token', [anyOf(key, token)], [{ key: [] }, { token: [] }]],
    ['a key or a payment', [anyOf(key, payment)], [{ key: [] }, {}]],
    ['a token, and a key or a payment', [token, anyOf(key, payment)], [{ token: [], key: [] }, { token: [] }]],
  ])('of %s', (_, access, expected) => {
    expect(securityOf(access)).toEqual(expected);
  });
});
