/**
 * The published schemas of input against the rules: what a schema admits is accepted, so a client that validates before it asks gets
 * no 400, and what the rules accept a schema admits. The few values that JSON Schema cannot tell apart are named here.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { jsonSchemaOf } from '../../src/http/documents/json-schema.ts';
import { Refusal } from '../../src/http/errors.ts';
import { queryDecoder } from '../../src/http/query.ts';
import { moment } from '../../src/modules/parameter-rules.ts';
import { createBody } from '../../src/modules/retry/input.ts';
import { anyCharacter, anyQuery } from '../support/characters.ts';
import { OPERATIONS, OTHER_SURFACES } from '../support/declared.ts';
import { openedApp } from '../support/opened-app.ts';
import { TargetsByHost } from '../support/targets-by-host.ts';

const ajv = new Ajv2020({ strict: false });

interface TextSchema {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

const lengthOf = (text: string): number => [...text].length;

const textsOf = ({ minLength = 0, maxLength = 2_000, pattern = '^.*$' }: TextSchema): fc.Arbitrary<string> =>
  fc
    .stringMatching(new RegExp(pattern, 'u'), { maxLength: Math.min(maxLength, 200) })
    .filter((text) => lengthOf(text) >= minLength && lengthOf(text) <= maxLength);

/** No schema says that 1900 has no 29 February, which code points are marks or stand for several terms, or that a cursor is ours. */
const isTold = (text: string): boolean =>
  !text.includes('-02-29') && !text.includes('\0') && text === text.normalize('NFKD') && !/^[\p{M}\s]*$/u.test(text);

/** Each parameter of text once, with a route that has it. */
const PARAMETERS = new Map(
  [...OPERATIONS, ...OTHER_SURFACES.flatMap(({ operations }) => operations)].flatMap(({ operation, query }) =>
    Object.entries(query?.entries ?? {}).flatMap(([name, entry]) => {
      const schema = jsonSchemaOf(entry as v.GenericSchema);
      if (schema.type !== 'string' || schema.enum !== undefined || name === 'cursor') return [];
      const decode = queryDecoder({ ...query!, entries: { [name]: query!.entries[name]! } });
      return [[`${name} ${JSON.stringify(schema)}`, { operation, name, schema, decode }] as const];
    }),
  ),
);

/** Those of the connection and of this server: no schema names them in every case. */
const REFUSED_NAMES =
  /^(?:connection|keep-alive|te|trailers?|transfer-encoding|upgrade|http2-settings|host|content-length|x-retry-.*|proxy-.*|webhook-.*|constructor|prototype|__proto__)$/i;

interface Bodies {
  readonly properties: {
    readonly request: {
      readonly properties: {
        readonly method: { readonly enum: readonly string[] };
        readonly url: { readonly pattern: string };
        readonly headers: { readonly propertyNames: TextSchema; readonly additionalProperties: TextSchema };
      };
    };
  };
}

describe('the published schema of', () => {
  it.each([...PARAMETERS.values()])('$name of $operation is its rule', ({ name, schema, decode }) => {
    const isAccepted = (text: string): boolean =>
      !(decode(`?${new URLSearchParams({ [name]: text })}`) instanceof Refusal);
    const isAdmitted = ajv.compile(schema);
    fc.assert(
      fc.property(textsOf(schema as TextSchema).filter(isTold), (text) => {
        expect([isAdmitted(text), isAccepted(text)], text).toEqual([true, true]);
      }),
    );
    const words = fc.string({ unit: anyCharacter, maxLength: 12 });
    const tried = fc.oneof(
      fc.array(fc.oneof(words, fc.lorem({ maxCount: 1 })), { maxLength: 9 }).map((all) => all.join(' ')),
      fc.domain(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    fc.assert(
      fc.property(tried, (text) => {
        // The length of most counts after trimming; blanks are an id like any other.
        if (isAccepted(text))
          expect(
            [text, text.trim()].some((one) => isAdmitted(one)),
            text,
          ).toBe(true);
      }),
    );
  });

  it('the body of a retry is its rule', async () => {
    const app = await openedApp({ SNAPSHOT: 'none' }, { outbound: new TargetsByHost() });
    const schema = jsonSchemaOf(createBody) as object as Bodies;
    const isAdmitted = ajv.compile(schema);
    const { headers, url } = schema.properties.request.properties;
    const names = textsOf(headers.propertyNames).filter((name) => !REFUSED_NAMES.test(name));
    const values = textsOf(headers.additionalProperties);
    const ofHeaders = fc.uniqueArray(fc.tuple(names, values), {
      maxLength: 5,
      selector: ([name]) => name.toLowerCase(),
    });
    const requests = fc.record(
      {
        method: fc.constantFrom(...schema.properties.request.properties.method.enum),
        // Not `fc.webUrl`, which builds a table of all characters.
        url: fc.tuple(fc.webAuthority(), anyQuery).map(([host, rest]) => `https://${host}/${rest}`),
        headers: ofHeaders.map((pairs) => Object.fromEntries(pairs)),
        body: fc.jsonValue(),
      },
      { requiredKeys: ['method', 'url'] },
    );
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const body = JSON.stringify({ request });
        const headers = { 'content-type': 'application/json' };
        const { status } = await app.fetch('/retry/v1/retries', { method: 'POST', headers, body });
        expect(isAdmitted({ request }), body).toBe(status === 402);
      }),
    );
    expect(new RegExp(url.pattern, 'u').test('ftp://files.example/')).toBe(false);
    await app.close();
  });

  it('a time admits every form of RFC 3339 and no day that occurs in no year', () => {
    const admits = ajv.compile(jsonSchemaOf(moment));
    const told: readonly (readonly [string, boolean])[] = [
      ['2024-02-29', true],
      ['2026-11-30T23:59:59.123456789+23:59', true],
      ['2026-11-30t00:00:00z', true],
      ['2026-11-31', false],
      ['2026-02-30', false],
      ['2026-13-01', false],
      ['2026-00-10', false],
      ['2026-11-30T24:00:00Z', false],
      ['2026-11-30T10:00:00', false],
      ['2026-11-30T10:00Z', false],
      ['yesterday!', false],
    ];
    for (const [text, is] of told) expect(admits(text), text).toBe(is);
  });
});
