/** Bodies that are input: which are accepted, and what the refusal of every other names. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Deadlines } from '../../src/base/deadlines.ts';
import { BodyReader } from '../../src/http/body.ts';
import { BodyBudget } from '../../src/http/body-budget.ts';
import { Refusal } from '../../src/http/errors.ts';
import { jsonBody, parseBody } from '../../src/http/json-body.ts';
import { INPUT_DEPTH_MAX } from '../../src/http/limits.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { rule } from '../../src/modules/parameter-rules.ts';
import { ManualTime } from '../support/manual-time.ts';

const schema = v.strictObject({
  name: v.pipe(v.string(), v.minLength(2), rule({ rule: 'a text of two characters' })),
  tags: v.optional(
    v.pipe(
      v.array(v.pipe(v.picklist(['a', 'b']), rule({ rule: 'a or b' }))),
      v.maxLength(2),
      rule({ rule: 'a list of two at most' }),
    ),
    [],
  ),
  values: v.optional(
    v.pipe(v.record(v.string(), v.pipe(v.string(), rule({ rule: 'a text' }))), rule({ rule: 'an object of texts' })),
  ),
  parts: v.optional(
    v.array(v.pipe(v.strictObject({ label: v.optional(v.string()) }), rule({ rule: 'an object with a label' }))),
  ),
  named: v.optional(
    v.record(
      v.string(),
      v.pipe(v.strictObject({ label: v.optional(v.string()) }), rule({ rule: 'a labelled object' })),
    ),
  ),
  inner: v.optional(v.nullable(v.strictObject({ count: v.pipe(v.number(), rule({ rule: 'a number' })) })), null),
});

describe('a body', () => {
  it('becomes what the schema makes of it', () => {
    expect(parseBody(schema, { name: 'ab' })).toEqual({ name: 'ab', tags: [], inner: null });
    expect(parseBody(schema, { name: 'ab', tags: ['b'], inner: { count: 1 } })).toEqual({
      name: 'ab',
      tags: ['b'],
      inner: { count: 1 },
    });
  });

  it.each<readonly [unknown, string]>([
    [[], 'the body must be a JSON object'],
    [null, 'the body must be a JSON object'],
    ['text', 'the body must be a JSON object'],
    [{}, '`name` is required: a text of two characters'],
    [{ name: 'a' }, '`name` must be a text of two characters'],
    [{ name: null }, '`name` must be a text of two characters'],
    [{ name: 'ab', tags: 'a' }, '`tags` must be a list of two at most'],
    [{ name: 'ab', tags: null }, '`tags` must be a list of two at most'],
    [{ name: 'ab', tags: ['a', 'c'] }, '`tags[1]` must be a or b'],
    [{ name: 'ab', tags: ['a', 'b', 'a'] }, '`tags` must be a list of two at most'],
    [{ name: 'ab', inner: 1 }, '`inner` must be valid'],
    [{ name: 'ab', inner: [] }, '`inner` must be valid'],
    [{ name: 'ab', values: ['x'] }, '`values` must be an object of texts'],
    [{ name: 'ab', parts: [{ label: 'a' }, []] }, '`parts[1]` must be an object with a label'],
    [{ name: 'ab', parts: {} }, '`parts` must be valid'],
    [{ name: 'ab', named: { a: {}, b: [] } }, '`named.b` must be a labelled object'],
    [{ name: 'ab', values: { a: 1 } }, '`values.a` must be a text'],
    [{ name: 'ab', inner: {} }, '`inner.count` is required: a number'],
    [{ name: 'ab', inner: { count: '1' } }, '`inner.count` must be a number'],
    [{ name: 'ab', inner: { count: 1, more: 1 } }, 'unknown field `inner.more`'],
    [{ name: 'ab', Name: 'ab' }, 'unknown field `Name`'],
    [JSON.parse('{"name":"ab","__proto__":1}'), 'unknown field `__proto__`'],
    [{ name: 'ab', '`\n\u202e': 1 }, 'unknown field "`\\n\u202e"'],
    [{ name: 'ab', [`svc_key_${'k'.repeat(43)}`]: 1 }, 'unknown field "svc_…"'],
    [{ name: 'ab', ['x'.repeat(500)]: 1 }, `unknown field ${JSON.stringify(`${'x'.repeat(64)}…`)}`],
  ])('%j is refused: %s', (value, message) => {
    const refusal = parseBody(schema, value);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code: 'INVALID_BODY', status: 400, message });
  });
});

describe('the bytes of a body', () => {
  const time = new ManualTime();
  const bodies = new BodyReader(new BodyBudget(1_000_000), new Deadlines(time, time, true), 1_000);
  const read = jsonBody(v.strictObject({ name: v.string(), list: v.optional(v.unknown()) }));
  const asked = (text: string, type: string | null): unknown => {
    const body = new Request('http://h/', { method: 'POST', body: Buffer.from(text) });
    const request: Pick<RequestView, 'body' | 'header' | 'clientNetwork' | 'onDisconnect'> = {
      body,
      header: (name) => (name === 'content-type' ? type : null),
      clientNetwork: () => '',
      onDisconnect: () => {},
    };
    return read(request as RequestView, { bodies });
  };
  const nested = (depth: number): string => `{"name":"ab","list":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  it.each([
    ['as they are', '{"name":"ab"}', 'application/json', { body: { name: 'ab' } }],
    ['behind a byte order mark', '\ufeff{"name":"ab"}', 'Application/JSON; charset=utf-8', { body: { name: 'ab' } }],
    ['as deep as they may be', nested(INPUT_DEPTH_MAX - 1), 'application/json', { body: { name: 'ab' } }],
    ['too deep', nested(INPUT_DEPTH_MAX), 'application/json', { code: 'INVALID_JSON' }],
    ['without any', '', null, { code: 'INVALID_JSON' }],
    ['of another type', '{"name":"ab"}', 'text/plain', { code: 'UNSUPPORTED_MEDIA_TYPE' }],
    ['of no type', '{"name":"ab"}', null, { code: 'UNSUPPORTED_MEDIA_TYPE' }],
  ])('are read or refused: %s', async (_, text, type, expected) => {
    expect(await asked(text, type)).toMatchObject(expected);
  });
});
