/**
 * Builds the Bazaar block of a paid operation (x402-v2 §7) from its contract: example and schema of the input, and an example
 * and an outline of the answer. Every unpaid request receives the block in its `PAYMENT-REQUIRED` header, and proxies limit
 * headers to 4 to 8 KiB. So the outline ends at the members of `data` and gives only the name of `meta`, and the example omits
 * whatever the schema lets it omit; `/openapi.json` has the whole contract.
 */
import * as v from 'valibot';
import { isObject } from '../base/json-value.ts';
import type { Contract } from '../http/contract.ts';
import { type JsonSchema, jsonSchemaOf } from '../http/documents/json-schema.ts';
import { Refusal } from '../http/errors.ts';
import { queryDecoder } from '../http/query.ts';

export interface BazaarBlock {
  readonly info: JsonSchema;
  readonly schema: JsonSchema;
}

/** How a block describes the answer, the longest form first. */
export const ANSWER_DETAILS = ['example and outline', 'example', 'outline'] as const;
export type AnswerDetail = (typeof ANSWER_DETAILS)[number];

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Reduces a schema to names and types in the first `depth` levels of objects; deeper ones show their type only. */
function outline(schema: JsonSchema, depth: number): JsonSchema {
  if (Array.isArray(schema.anyOf)) {
    const types = schema.anyOf.map((one: JsonSchema) => one.type);
    return { type: types };
  }
  if (schema.type === 'array' && isObject(schema.items)) return { type: 'array', items: outline(schema.items, depth) };
  if (schema.type !== 'object' || !isObject(schema.properties)) {
    return schema.type === undefined ? {} : { type: schema.type };
  }
  if (depth === 0) return { type: 'object' };
  const properties: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(schema.properties))
    properties[name] = outline(inner as JsonSchema, depth - 1);
  return { type: 'object', properties };
}

function outputSchema(contract: Contract): JsonSchema {
  const answer = jsonSchemaOf(contract.answer);
  const { data, meta } = (answer.properties ?? {}) as Record<string, JsonSchema>;
  if (data === undefined || meta === undefined) return outline(answer, 1);
  return {
    type: 'object',
    properties: { data: outline(data, 2), meta: { type: 'object' } },
    required: ['data', 'meta'],
  };
}

/** The input of an operation: an example, and the members in which its schema differs from that of other operations. */
interface Input {
  readonly info: JsonSchema;
  readonly properties: JsonSchema;
  readonly required: readonly string[];
}

/** Patterns would take up much of the header. */
const withoutPatterns = (schema: JsonSchema): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema, (key, value) => (key === 'pattern' && typeof value === 'string' ? undefined : value)),
  );

function queryInput(contract: Contract): Input {
  const query = contract.query === undefined ? { type: 'object' } : withoutPatterns(jsonSchemaOf(contract.query));
  const { properties = {}, required = [] } = query as { properties?: JsonSchema; required?: readonly string[] };
  const queryParams = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return { info: { queryParams: contract.examples?.query ?? {} }, properties: { queryParams }, required: [] };
}

const JSON_TYPE = 'application/json';

const exampleBodyOf = ({ examples }: Contract): unknown => examples?.bodies?.[JSON_TYPE] ?? {};

function bodyInput(contract: Contract): Input {
  const schema = contract.bodies?.[JSON_TYPE];
  const body = schema === undefined ? { type: 'object' } : withoutPatterns(jsonSchemaOf(schema));
  return {
    info: { bodyType: 'json', body: exampleBodyOf(contract) },
    properties: { bodyType: { enum: ['json'] }, body },
    required: ['bodyType', 'body'],
  };
}

/** The query of the operation's example, with its `?`, or the empty string. */
export function exampleSearchOf({ examples }: Contract): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(examples?.query ?? {})) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

/**
 * Checks at start that indexers and facilitators will accept the block. Indexers send a listed operation its own example and
 * drop the operation when the answer is not 402; facilitators check `info` against `schema` (x402-v2 §7.2, §7.3). The tests
 * run the official validator.
 * @throws Error naming the operation and the reason
 */
function assertListable(contract: Contract, input: Input): void {
  const fail = (reason: string): never => {
    throw new Error(`discovery of ${contract.method} ${contract.path}: ${reason}`);
  };
  if (contract.method !== 'GET' && contract.method !== 'POST') fail('only GET and POST are listed');
  if (contract.path.includes(':')) fail('a path with parameters is not listed');
  for (const name of [...Object.keys(input.info), ...input.required]) {
    if (!Object.hasOwn(input.properties, name)) fail(`\`${name}\` is not in the schema`);
    if (!Object.hasOwn(input.info, name)) fail(`\`${name}\` has no example`);
  }
  const decoded = queryDecoder(contract.query)(exampleSearchOf(contract));
  if (decoded instanceof Refusal) fail(`its own example is refused: ${decoded.message}`);
  const body = contract.bodies?.[JSON_TYPE];
  if (body !== undefined && !v.is(body, exampleBodyOf(contract))) fail('the example of its body is refused');
}

/** Longest sentence of `meta` in an example: its sentences are the same in every answer. */
const EXAMPLE_TEXT_LENGTH_MAX = 24;

const shortTextOf = (text: string): string => `${text.slice(0, EXAMPLE_TEXT_LENGTH_MAX - 3).trimEnd()}...`;

/** The members of an object and of the objects in it, each with the object that has it. */
function membersIn(object: Record<string, unknown>): [holder: Record<string, unknown>, name: string][] {
  return Object.entries(object).flatMap(([name, value]) => [
    [object, name],
    ...(isObject(value) ? membersIn(value) : []),
  ]);
}

/** The example of the answer, with `meta` as short as the answer's schema allows: shorter sentences, or none. */
function shortExample({ answer, examples }: Contract): unknown {
  const example = examples?.answer;
  if (!isObject(example) || !isObject(example.meta)) return example;
  const short = structuredClone(example) as Record<string, unknown> & { meta: Record<string, unknown> };
  const isAnswer = (): boolean => v.safeParse(answer, short, { abortEarly: true }).success;
  for (const [holder, name] of membersIn(short.meta)) {
    const value = holder[name];
    delete holder[name];
    if (isAnswer()) continue;
    if (Array.isArray(value)) holder[name] = [];
    else if (typeof value === 'string' && value.length > EXAMPLE_TEXT_LENGTH_MAX) holder[name] = shortTextOf(value);
    else holder[name] = value;
    if (!isAnswer()) holder[name] = value;
  }
  return short;
}

/**
 * Builds the block for a GET with query parameters, or for a POST with a JSON body.
 * @param detail how it describes the answer, so that the header stays short enough
 * @throws Error when indexers or facilitators would reject it
 */
export function bazaarOf(contract: Contract, detail: AnswerDetail): BazaarBlock {
  const { method } = contract;
  const input = method === 'GET' ? queryInput(contract) : bodyInput(contract);
  assertListable(contract, input);
  const example = detail === 'outline' ? undefined : shortExample(contract);
  const output = { type: 'json', ...(example === undefined ? {} : { example }) };
  return {
    info: { input: { type: 'http', method, ...input.info }, output },
    schema: {
      $schema: DIALECT,
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: { type: { const: 'http' }, method: { enum: [method] }, ...input.properties },
          required: ['type', 'method', ...input.required],
          additionalProperties: false,
        },
        output: {
          type: 'object',
          properties: {
            type: { const: 'json' },
            example: detail === 'example' ? { type: 'object' } : outputSchema(contract),
          },
          required: ['type'],
        },
      },
      required: ['input'],
    },
  };
}
