/**
 * Builds the OpenAPI 3.1 document of a surface from the declarations that serve its requests (decisions §6). Each way in and
 * each error code brings its own headers and members; only the description of a status stands here.
 */
import type * as v from 'valibot';
import { type AccessDocumentation, waysIn } from '../access.ts';
import type { Contract } from '../contract.ts';
import { type ErrorCode, type HeaderFacts, INTERNAL_ERROR, METHOD_NOT_ALLOWED } from '../errors.ts';
import type { BodySchema } from '../json-body.ts';
import { cacheControlOf, errorsOf, type Operation } from '../operation.ts';
import { pathParametersOf, pathTemplateOf } from '../path.ts';
import { ruleOf } from '../query.ts';
import { closed, type JsonSchema, jsonSchemaOf } from './json-schema.ts';

export interface DocumentFacts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly serverUrl: string;
  /** Description of each tag, in the order of the sections. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Descriptions, by status, of the responses other than the success that an operation declares. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'An answer that was given before.',
  202: 'The work goes on; it is paid for.',
  400: 'The input is invalid. Nothing was charged.',
  401: 'The credentials are missing or wrong.',
  402: 'The answer is not paid for; the code says why. The response contains no data.',
  403: 'The credentials do not permit this operation.',
  404: 'Not found. Nothing was charged.',
  405: 'The path does not support this method.',
  408: 'The body did not arrive in time.',
  409: 'The request conflicts with another one, such as one that used the same payment authorization.',
  410: 'The resource has expired or has reached its limit.',
  413: 'The body is too large.',
  415: 'The server does not support the media type.',
  429: 'Too many requests.',
  500: 'An unexpected error occurred.',
  502: 'The catalogue, or the target of the request, gave no usable answer. Nothing was charged.',
  503: 'The service is unavailable. Try again later.',
  504: 'The catalogue, or the target of the request, did not answer in time. Nothing was charged.',
};

const REQUEST_ID_PATTERN = '^req_[0-9a-f-]{36}$';

const REQUEST_ID_HEADER = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

const documentationOf = ({ access }: Operation): readonly AccessDocumentation[] =>
  waysIn(access).map(({ documentation }) => documentation);

const errorSchema = (codes: readonly ErrorCode[], members: JsonSchema): JsonSchema =>
  closed({
    error: closed({
      code: { type: 'string', enum: codes.map(({ code }) => code) },
      message: { type: 'string' },
      request_id: { type: 'string', pattern: REQUEST_ID_PATTERN },
    }),
    ...members,
  });

/** Headers of one status: required when every code always sends them; otherwise the description names the codes that do. */
function headersOf(codes: readonly ErrorCode[]): Record<string, unknown> {
  const headers: Record<string, unknown> = { ...REQUEST_ID_HEADER };
  const facts = new Map<string, HeaderFacts>(codes.flatMap((code) => Object.entries(code.headers)));
  for (const [name, { description, schema }] of facts) {
    const senders = codes.filter((code) => code.headers[name] !== undefined);
    const required = codes.every((code) => code.headers[name]?.isAlwaysSent === true);
    headers[name] = required
      ? { description, required, schema }
      : { description: `${description}; ${senders.map(({ code }) => code).join(', ')}`, schema };
  }
  return headers;
}

/** The body of one status. Codes of a way in have the members that it adds; all others do not. */
function errorSchemaOf({ access }: Operation, status: number, codes: readonly ErrorCode[]): JsonSchema {
  const adding = waysIn(access).filter(({ documentation }) => documentation.errorMembers?.[status] !== undefined);
  const members = Object.assign({}, ...adding.map(({ documentation }) => documentation.errorMembers?.[status]));
  const isAdded = ({ code }: ErrorCode): boolean =>
    adding.some(({ errors }) => errors.some((one) => one.code === code));
  const [added, plain] = [codes.filter(isAdded), codes.filter((code) => !isAdded(code))];
  if (added.length === 0) return errorSchema(plain, {});
  if (plain.length === 0) return errorSchema(added, members);
  return { anyOf: [errorSchema(added, members), errorSchema(plain, {})] };
}

function errorResponses(operation: Operation, allow: string): Record<string, unknown> {
  const byStatus = Map.groupBy(errorsOf(operation), ({ status }) => status);
  const responses: Record<string, unknown> = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    const headers = headersOf(codes);
    if (status === METHOD_NOT_ALLOWED.status) {
      headers.Allow = { description: 'The methods that this path supports', required: true, schema: { const: allow } };
    }
    // After a bug past the settlement, the 500 carries the receipt: the customer has paid, by a payment or with credits.
    if (status === INTERNAL_ERROR.status)
      Object.assign(headers, receiptsOf(operation, 'only when the server failed after the charge'));
    const content = { 'application/json': { schema: errorSchemaOf(operation, status, codes) } };
    responses[String(status)] = {
      description: REASONS[status] ?? 'Error',
      headers,
      ...(operation.method === 'HEAD' ? {} : { content }),
    };
  }
  return responses;
}

/** Where answers may be cached. */
function cachingOf(operation: Operation): Record<string, unknown> {
  const value = cacheControlOf(operation);
  if (value === undefined) return {};
  return {
    'Cache-Control': { description: 'Where and how long it may be cached', required: true, schema: { const: value } },
  };
}

/** The 304 of an operation that answers conditional requests. */
const notModifiedOf = (operation: Operation): Record<string, unknown> => {
  const { isConditional = false, answerHeaders = {} } = operation;
  if (!isConditional) return {};
  const ofHandler = Object.entries(answerHeaders).map(([name, { description, schema }]) => [
    name,
    { description, schema: jsonSchemaOf(schema) },
  ]);
  return {
    304: {
      description: 'The client has this answer already',
      headers: { ...REQUEST_ID_HEADER, ...cachingOf(operation), ...Object.fromEntries(ofHandler) },
    },
  };
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Entity tags of answers that the client has.',
  schema: { type: 'string' },
};

/** The `example` member of OpenAPI, or none. */
const exampleOf = (examples: Readonly<Record<string, unknown>> | undefined, name: string): { example?: unknown } =>
  examples?.[name] === undefined ? {} : { example: examples[name] };

function parametersOf(operation: Operation): unknown[] {
  const { path, params, query, lenientQuery = {}, examples } = operation;
  const inPath = pathParametersOf(path).map(({ name }) => ({
    name,
    in: 'path',
    required: true,
    schema: params?.[name] === undefined ? { type: 'string' } : jsonSchemaOf(params[name]),
    ...exampleOf(examples?.params, name),
  }));
  const strict = Object.entries(query?.entries ?? {}).map(([name, entry]) => {
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
  const ofAccess = documentationOf(operation).flatMap((one) => one.parameters ?? []);
  return [...inPath, ...strict, ...lenient, ...ofAccess, ...(operation.isConditional === true ? [IF_NONE_MATCH] : [])];
}

/** Whether this schema requires a member, so that the body itself is required. */
const isRequired = (schema: v.GenericSchema): boolean =>
  Object.values((schema as Partial<BodySchema>).entries ?? {}).some(({ type }) => type !== 'optional');

function requestBodyOf({ bodies, examples }: Contract): { requestBody?: unknown } {
  if (bodies === undefined) return {};
  const content = Object.entries(bodies).map(([type, schema]) => [
    type,
    { schema: jsonSchemaOf(schema), ...exampleOf(examples?.bodies, type) },
  ]);
  return { requestBody: { required: Object.values(bodies).some(isRequired), content: Object.fromEntries(content) } };
}

/** The headers that ways in add to a paid answer, as headers of an error that may follow the payment. */
const receiptsOf = (operation: Operation, when: string): Record<string, unknown> =>
  Object.fromEntries(
    documentationOf(operation).flatMap(({ answerHeaders = {} }) =>
      Object.entries(answerHeaders).map(([name, { description, schema }]) => [
        name,
        { description: `${description}; ${when}`, schema },
      ]),
    ),
  );

function successHeaders(operation: Operation): Record<string, unknown> {
  // A request uses one of several alternatives, and its answer carries the headers of that one.
  const ofAccess = operation.access.flatMap((entry) =>
    waysIn([entry]).flatMap(({ documentation: { answerHeaders = {} } }) =>
      Object.entries(answerHeaders).map(([name, { description, schema, isAlwaysSent }]) => [
        name,
        { description, schema, required: isAlwaysSent && !('anyOf' in entry) },
      ]),
    ),
  );
  const ofHandler = Object.entries(operation.answerHeaders ?? {}).map(
    ([name, { description, schema, optional = false }]) => [
      name,
      { description, required: !optional, schema: jsonSchemaOf(schema) },
    ],
  );
  return { ...REQUEST_ID_HEADER, ...cachingOf(operation), ...Object.fromEntries([...ofAccess, ...ofHandler]) };
}

function successOf(operation: Operation): unknown {
  return {
    description: 'Success',
    headers: successHeaders(operation),
    ...(operation.method === 'HEAD' ? {} : { content: contentOf(operation) }),
  };
}

/** Successes of another status have the headers of success; only their bodies differ. */
const otherResponses = (operation: Operation): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(operation.otherAnswers ?? {}).map(([status, schema]) => [
      status,
      {
        description: REASONS[Number(status)] ?? '',
        headers: Number(status) < 300 ? successHeaders(operation) : REQUEST_ID_HEADER,
        content: {
          'application/json': { schema: jsonSchemaOf(schema), ...exampleOf(operation.examples?.otherAnswers, status) },
        },
      },
    ]),
  );

function contentOf({ answerType = 'application/json', answer, examples }: Contract): Record<string, unknown> {
  const isJson = /[/+]json$/.test(answerType);
  return { [answerType]: isJson ? { schema: jsonSchemaOf(answer), ...exampleOf(examples, 'answer') } : {} };
}

/**
 * The security requirements of the operation: one object for each choice of the alternatives, with every scheme that the
 * choice needs (OpenAPI 3.1, Security Requirement Object). An object without a scheme: the choice needs none (a payment).
 */
function securityOf({ access }: Operation): { security?: unknown } {
  let choices: Record<string, readonly string[]>[] = [{}];
  for (const entry of access) {
    const schemes = waysIn([entry]).map(({ documentation: { security } }) =>
      security === undefined ? {} : { [security.name]: security.scopes ?? [] },
    );
    choices = choices.flatMap((choice) => schemes.map((scheme) => ({ ...choice, ...scheme })));
  }
  return choices.every((choice) => Object.keys(choice).length === 0) ? {} : { security: choices };
}

function operationOf(operation: Operation, allow: string, { serverUrl }: DocumentFacts): unknown {
  const { tag, summary, description, publicUrl = serverUrl, status = 200 } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId: operation.operation,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(publicUrl === serverUrl ? {} : { servers: [{ url: publicUrl }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(operation),
    ...Object.assign({}, ...documentationOf(operation).map((one) => one.operation)),
    ...securityOf(operation),
    responses: {
      [String(status)]: successOf(operation),
      ...notModifiedOf(operation),
      ...otherResponses(operation),
      ...errorResponses(operation, allow),
    },
  };
}

export function openApiOf(operations: readonly Operation[], facts: DocumentFacts): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = pathTemplateOf(operation.path);
    const allow = operations.filter((other) => other.path === operation.path).map(({ method }) => method);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationOf(operation, allow.join(', '), facts) };
  }
  const { title, version, description, serverUrl, tags } = facts;
  const ofAccess = operations.flatMap(documentationOf);
  const securitySchemes = ofAccess.flatMap(({ security }) => (security === undefined ? [] : [security]));
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: serverUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.assign({}, ...ofAccess.map(({ schemas }) => schemas)),
      headers: {
        RequestId: {
          description: 'The id of this request. Error bodies and the server log contain it too.',
          required: true,
          schema: { type: 'string', pattern: REQUEST_ID_PATTERN },
        },
      },
      securitySchemes: Object.fromEntries(securitySchemes.map(({ name, scheme }) => [name, scheme])),
    },
  };
}
