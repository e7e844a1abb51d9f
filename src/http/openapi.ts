/**
 * OpenAPI 3.1 of every route, from the declarations that serve them (decisions §6). Pure: declarations in, document out.
 *
 * A paid operation carries `x-payment-info` and its 402 with the `PAYMENT-REQUIRED` header, the form that x402 indexers
 * read (x402-v2 §7.4).
 */
import type * as v from 'valibot';
import type { Access } from './access.ts';
import { ERROR_STATUS, type ErrorCode } from './errors.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { ruleOf } from './query.ts';
import type { Route } from './route.ts';

export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly serverUrl: string;
}

/** Codes that follow from a declaration's query and access, whatever its handler does. */
function codesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
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
  codes.add('INTERNAL_ERROR');
  return [...codes];
}

const CODES_OF_ACCESS: Readonly<Record<Access['kind'], readonly ErrorCode[]>> = {
  'caller-rate': ['RATE_LIMIT_EXCEEDED'],
  capacity: ['CALLBACK_CAPACITY_EXCEEDED'],
  'read-token': ['MISSING_AUTHORIZATION', 'INVALID_AUTHORIZATION', 'INVALID_TOKEN'],
  x402: [
    'PAYMENT_REQUIRED',
    'PAYMENT_INVALID',
    'PAYMENT_NOT_SETTLED',
    'PAYMENT_ALREADY_USED',
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

const errorSchema = (codes: readonly ErrorCode[], open: boolean): JsonSchema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: codes },
        message: { type: 'string' },
        request_id: { type: 'string', pattern: '^req_[0-9a-f-]{36}$' },
      },
      required: ['code', 'message', 'request_id'],
      additionalProperties: false,
    },
    ...(open
      ? {
          x402Version: { const: 2 },
          resource: { type: 'object' },
          accepts: { type: 'array' },
          extensions: { type: 'object' },
        }
      : {}),
  },
  required: open ? ['error', 'x402Version', 'resource', 'accepts'] : ['error'],
  additionalProperties: false,
});

const textHeader = (description: string) => ({ description, schema: { type: 'string' } });

function errorResponses(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERROR_STATUS[code], [...(byStatus.get(ERROR_STATUS[code]) ?? []), code]);
  const responses: Record<string, unknown> = {};
  for (const [status, group] of [...byStatus].sort(([a], [b]) => a - b)) {
    const headers: Record<string, unknown> = {};
    if (status === 402) headers['PAYMENT-REQUIRED'] = textHeader('base64 of the x402 v2 PaymentRequired object');
    if (status === 402 || status === 409 || group.includes('SETTLEMENT_PENDING')) {
      headers['PAYMENT-RESPONSE'] = textHeader('base64 of the x402 v2 SettlementResponse, where settlement was tried');
    }
    if (status === 429 || group.includes('SETTLEMENT_PENDING')) headers['Retry-After'] = textHeader('seconds');
    responses[String(status)] = {
      description: REASONS[status] ?? 'Error',
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      content: { 'application/json': { schema: errorSchema(group, status === 402) } },
    };
  }
  return responses;
}

const otherResponses = (route: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(route.otherAnswers ?? {}).map(([status, schema]) => [
      status,
      { description: REASONS[Number(status)] ?? '', content: { 'application/json': { schema: jsonSchemaOf(schema) } } },
    ]),
  );

function parametersOf(route: Route): unknown[] {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(route.query?.entries ?? {}).map(([name, entry]) => {
    const schema = entry as v.GenericSchema;
    const example = route.examples?.query?.[name];
    return {
      name,
      in: 'query',
      required: schema.type !== 'optional',
      description: `Must be ${ruleOf(schema).rule}.`,
      schema: jsonSchemaOf(schema),
      ...(example === undefined ? {} : { example }),
    };
  });
  return [...inPath, ...inQuery];
}

function operationOf(route: Route): Record<string, unknown> {
  const payment = route.access.find((access) => access.kind === 'x402');
  const parameters = parametersOf(route);
  const success = String(route.status ?? 200);
  return {
    operationId: route.operation,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
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
      [success]: {
        description: 'Success',
        ...(payment === undefined
          ? {}
          : { headers: { 'PAYMENT-RESPONSE': textHeader('base64 of the x402 v2 SettlementResponse') } }),
        content: { 'application/json': { schema: jsonSchemaOf(route.answer) } },
      },
      ...otherResponses(route),
      ...errorResponses(codesOf(route)),
    },
  };
}

export function openApiOf(routes: readonly Route[], facts: DocumentFacts): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const { title, version, description, serverUrl } = facts;
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      securitySchemes: { readToken: { type: 'http', scheme: 'bearer', description: 'The read token of one callback' } },
    },
  };
}
