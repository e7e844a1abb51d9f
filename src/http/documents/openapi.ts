/**
 * OpenAPI 3.1 of every route, from the declarations that serve them (decisions §6). Pure: declarations in, document out.
 * What a declaration does not say is said here once, by code: which status it has and which headers go with it.
 *
 * A paid operation carries `x-payment-info` and its 402 with the `PAYMENT-REQUIRED` header, the form that x402 indexers
 * read (x402-v2 §7.4).
 */
import type * as v from 'valibot';
import type { Access } from '../access.ts';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { ruleOf } from '../query.ts';
import type { Documentation, Route } from '../route.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly serverUrl: string;
  /** Where routes that are marked `isHook` are given out. */
  readonly hookUrl: string;
  /** What each tag stands for, in the order of their sections. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Codes that a declaration lists, and those that follow from its query, access and path, whatever its handler does. */
export function codesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...route.errors, 'METHOD_NOT_ALLOWED', 'INTERNAL_ERROR']);
  if (route.query !== undefined) {
    for (const code of ['INVALID_PARAMETER', 'UNKNOWN_PARAMETER', 'DUPLICATE_PARAMETER'] as const) codes.add(code);
    for (const entry of Object.values(route.query.entries)) {
      const schema = entry as v.GenericSchema;
      if (schema.type !== 'optional') codes.add('MISSING_PARAMETER');
      const { code } = ruleOf(schema);
      if (code !== undefined) codes.add(code);
    }
  }
  for (const access of route.access) for (const code of CODES_OF_ACCESS[access.kind]) codes.add(code);
  return [...codes];
}

const CODES_OF_ACCESS: Readonly<Record<Access['kind'], readonly ErrorCode[]>> = {
  'caller-rate': ['RATE_LIMIT_EXCEEDED'],
  capacity: ['CALLBACK_CAPACITY_EXCEEDED'],
  'read-token': [
    'INVALID_CALLBACK_ID',
    'MISSING_AUTHORIZATION',
    'INVALID_AUTHORIZATION',
    'INVALID_TOKEN',
    'CALLBACK_NOT_FOUND',
    'CALLBACK_EXPIRED',
  ],
  x402: [
    'PAYMENT_REQUIRED',
    'PAYMENT_INVALID',
    'PAYMENT_NOT_SETTLED',
    'PAYMENT_ALREADY_USED',
    'RATE_LIMIT_EXCEEDED',
    'SETTLEMENT_PENDING',
    'SETTLEMENT_UNAVAILABLE',
  ],
};

const REASONS: Readonly<Record<number, string>> = {
  400: 'Invalid input; nothing was charged',
  401: 'No or wrong read token',
  402: 'Payment required, rejected or not settled; no data is released',
  404: 'Not found; nothing was charged',
  405: 'The path does not have this method',
  408: 'The body did not arrive in time',
  409: 'The payment authorization was used before, or is in use',
  410: 'Past its lifetime or its limit',
  413: 'The body is too large',
  415: 'Unsupported media type',
  429: 'Too many requests',
  500: 'Unexpected error',
  502: 'The catalogue gave an invalid answer; nothing was charged',
  503: 'Not available now',
  504: 'The catalogue did not answer in time; nothing was charged',
};

const REQUEST_ID_PATTERN = '^req_[0-9a-f-]{36}$';

const closed = (properties: JsonSchema, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** The offer of a 402 as it is mirrored in the body (x402-v2 §2.1 to §2.3, §7.1; decisions §4). */
const OFFER_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ResourceInfo: closed(
    {
      url: { type: 'string', format: 'uri' },
      description: { type: 'string', maxLength: 500 },
      mimeType: { type: 'string' },
      serviceName: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    ['serviceName', 'tags'],
  ),
  PaymentRequirements: closed({
    scheme: { const: 'exact' },
    network: { const: 'eip155:8453' },
    amount: { type: 'string', pattern: '^[1-9][0-9]*$', description: 'Atomic units of the asset' },
    asset: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    payTo: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    maxTimeoutSeconds: { type: 'integer', minimum: 1 },
    extra: closed({ name: { type: 'string' }, version: { type: 'string' } }),
  }),
  OfferExtensions: closed({
    bazaar: closed({ info: { type: 'object' }, schema: { type: 'object' } }),
  }),
};

const refTo = (kind: string, name: string): JsonSchema => ({ $ref: `#/components/${kind}/${name}` });

const errorSchema = (codes: readonly ErrorCode[], isOffer: boolean): JsonSchema =>
  closed({
    error: closed({
      code: { type: 'string', enum: codes },
      message: { type: 'string' },
      request_id: { type: 'string', pattern: REQUEST_ID_PATTERN },
    }),
    ...(isOffer
      ? {
          x402Version: { const: 2 },
          resource: refTo('schemas', 'ResourceInfo'),
          accepts: { type: 'array', items: refTo('schemas', 'PaymentRequirements'), minItems: 1 },
          extensions: refTo('schemas', 'OfferExtensions'),
        }
      : {}),
  });

/** Response headers that more than one operation has; `Allow` and what handlers add are made where they are needed. */
const HEADERS = {
  'PAYMENT-REQUIRED': { description: 'base64 of the x402 v2 PaymentRequired object', schema: { type: 'string' } },
  'PAYMENT-RESPONSE': { description: 'base64 of the x402 v2 SettlementResponse', schema: { type: 'string' } },
  'Retry-After': {
    description: 'Seconds after which it is worth asking again',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'The scheme that is asked for', schema: { const: 'Bearer' } },
} as const;

type HeaderName = keyof typeof HEADERS;

/** Whether every refusal with the code carries the header, or only some. */
type CodeHeaders = Readonly<Partial<Record<HeaderName, 'always' | 'sometimes'>>>;

const CHALLENGED: CodeHeaders = { 'WWW-Authenticate': 'always' };
const LATER: CodeHeaders = { 'Retry-After': 'always' };

/** What the gates and handlers send with a code; the contract test holds responses against it. */
const HEADERS_OF_CODE: Readonly<Partial<Record<ErrorCode, CodeHeaders>>> = {
  MISSING_AUTHORIZATION: CHALLENGED,
  INVALID_AUTHORIZATION: CHALLENGED,
  INVALID_TOKEN: CHALLENGED,
  PAYMENT_REQUIRED: { 'PAYMENT-REQUIRED': 'always' },
  PAYMENT_INVALID: { 'PAYMENT-REQUIRED': 'always' },
  PAYMENT_NOT_SETTLED: { 'PAYMENT-REQUIRED': 'always', 'PAYMENT-RESPONSE': 'sometimes' },
  PAYMENT_ALREADY_USED: { 'PAYMENT-RESPONSE': 'sometimes', 'Retry-After': 'sometimes' },
  RATE_LIMIT_EXCEEDED: LATER,
  TOO_MANY_WAITS: LATER,
  CALLBACK_CAPACITY_EXCEEDED: LATER,
  SETTLEMENT_PENDING: { ...LATER, 'PAYMENT-RESPONSE': 'always' },
  SETTLEMENT_UNAVAILABLE: LATER,
};

const REQUEST_ID_HEADER = { 'X-Request-Id': refTo('headers', 'RequestId') };

/** Headers of one status: required where every code of it always sends them, else with the codes that do. */
function headersOf(codes: readonly ErrorCode[]): Record<string, unknown> {
  const headers: Record<string, unknown> = { ...REQUEST_ID_HEADER };
  for (const name of Object.keys(HEADERS) as HeaderName[]) {
    const senders = codes.filter((code) => HEADERS_OF_CODE[code]?.[name] !== undefined);
    if (senders.length === 0) continue;
    const { description, schema } = HEADERS[name];
    const required = codes.every((code) => HEADERS_OF_CODE[code]?.[name] === 'always');
    headers[name] = required
      ? { description, required, schema }
      : { description: `${description}; ${senders.join(', ')}`, schema };
  }
  return headers;
}

function errorResponses(codes: readonly ErrorCode[], allow: string, hasBody: boolean): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERROR_STATUS[code], [...(byStatus.get(ERROR_STATUS[code]) ?? []), code]);
  const responses: Record<string, unknown> = {};
  for (const [status, group] of [...byStatus].sort(([a], [b]) => a - b)) {
    const headers = headersOf(group);
    if (status === ERROR_STATUS.METHOD_NOT_ALLOWED) {
      headers.Allow = { description: 'The methods of this path', required: true, schema: { const: allow } };
    }
    responses[String(status)] = {
      description: REASONS[status] ?? 'Error',
      headers,
      ...(hasBody ? { content: { 'application/json': { schema: errorSchema(group, status === 402) } } } : {}),
    };
  }
  return responses;
}

const otherResponses = (route: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(route.otherAnswers ?? {}).map(([status, schema]) => [
      status,
      {
        description: REASONS[Number(status)] ?? '',
        headers: REQUEST_ID_HEADER,
        content: { 'application/json': { schema: jsonSchemaOf(schema) } },
      },
    ]),
  );

/** A member for OpenAPI, or none. */
const exampleOf = (examples: Readonly<Record<string, unknown>> | undefined, name: string): { example?: unknown } =>
  examples?.[name] === undefined ? {} : { example: examples[name] };

/** Standard base64, padded or not (decisions §4). */
const PAYMENT_HEADER = {
  name: 'PAYMENT-SIGNATURE',
  in: 'header',
  required: false,
  description:
    'base64 of the x402 v2 PaymentPayload for one entry of the offer. Left out, the answer is 402 with the offer in its ' +
    '`PAYMENT-REQUIRED` header.',
  schema: { type: 'string', maxLength: 8192, pattern: '^[A-Za-z0-9+/]+={0,2}$' },
};

function parametersOf(route: Route): unknown[] {
  const { params, lenientQuery = {}, examples } = route;
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: params?.[name] === undefined ? { type: 'string' } : jsonSchemaOf(params[name]),
    ...exampleOf(examples?.params, name),
  }));
  const strict = Object.entries(route.query?.entries ?? {}).map(([name, entry]) => {
    const schema = entry as v.GenericSchema;
    return {
      name,
      in: 'query',
      required: schema.type !== 'optional',
      description: `Must be ${ruleOf(schema).rule}.`,
      schema: jsonSchemaOf(schema),
      ...exampleOf(examples?.query, name),
    };
  });
  const lenient = Object.entries(lenientQuery).map(([name, { schema, rule }]) => ({
    name,
    in: 'query',
    required: false,
    description: rule,
    schema: jsonSchemaOf(schema),
    ...exampleOf(examples?.query, name),
  }));
  const isPaid = route.access.some((access) => access.kind === 'x402');
  return [...inPath, ...strict, ...lenient, ...(isPaid ? [PAYMENT_HEADER] : [])];
}

function requestBodyOf({ bodies, examples }: Documentation): { requestBody?: unknown } {
  if (bodies === undefined) return {};
  const content = Object.entries(bodies).map(([type, schema]) => [
    type,
    { schema: jsonSchemaOf(schema), ...exampleOf(examples?.bodies, type) },
  ]);
  return { requestBody: { required: false, content: Object.fromEntries(content) } };
}

function successOf(route: Route, isPaid: boolean): unknown {
  const added = Object.entries(route.answerHeaders ?? {}).map(([name, { description, schema, optional = false }]) => [
    name,
    { description, required: !optional, schema: jsonSchemaOf(schema) },
  ]);
  return {
    description: 'Success',
    headers: {
      ...REQUEST_ID_HEADER,
      ...(isPaid ? { 'PAYMENT-RESPONSE': { ...HEADERS['PAYMENT-RESPONSE'], required: true } } : {}),
      ...Object.fromEntries(added),
    },
    ...(route.method === 'HEAD' ? {} : { content: contentOf(route) }),
  };
}

function contentOf({ answerType = 'application/json', answer, examples }: Route): Record<string, unknown> {
  const isJson = /[/+]json$/.test(answerType);
  return { [answerType]: isJson ? { schema: jsonSchemaOf(answer), ...exampleOf(examples, 'answer') } : {} };
}

function operationOf(route: Route, allow: string, { serverUrl, hookUrl }: DocumentFacts): Record<string, unknown> {
  const payment = route.access.find((access) => access.kind === 'x402');
  const parameters = parametersOf(route);
  const success = String(route.status ?? 200);
  return {
    operationId: route.operation,
    ...(route.tag === undefined ? {} : { tags: [route.tag] }),
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.isHook === true && hookUrl !== serverUrl ? { servers: [{ url: hookUrl }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(route),
    ...(payment === undefined
      ? {}
      : {
          'x-payment-info': {
            protocols: ['x402'],
            pricingMode: 'fixed',
            price: payment.priceUsdc,
            currency: 'USDC',
            network: 'eip155:8453',
          },
        }),
    ...(route.access.some((access) => access.kind === 'read-token') ? { security: [{ readToken: [] }] } : {}),
    responses: {
      [success]: successOf(route, payment !== undefined),
      ...otherResponses(route),
      ...errorResponses(codesOf(route), allow, route.method !== 'HEAD'),
    },
  };
}

export function openApiOf(routes: readonly Route[], facts: DocumentFacts): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const allow = routes.filter((other) => other.path === route.path).map(({ method }) => method);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, allow.join(', '), facts) };
  }
  const { title, version, description, serverUrl, tags } = facts;
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: serverUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: OFFER_SCHEMAS,
      headers: {
        RequestId: {
          description: 'The id of this request, as in an error body and in the log',
          required: true,
          schema: { type: 'string', pattern: REQUEST_ID_PATTERN },
        },
      },
      securitySchemes: { readToken: { type: 'http', scheme: 'bearer', description: 'The read token of one callback' } },
    },
  };
}
