/**
 * Checks every response that a test gets from our servers against the contract in `/openapi.json`: the operation's
 * status, media type, headers, and body by the closed schema. `published-setup.ts` does this behind `fetch` for the
 * whole suite; raw sockets and in-process handlers pass in their answers themselves.
 *
 * The document is built here from the same declarations, once for each worker, and each schema is compiled on first
 * use; the contract test ensures that a running server publishes the same document.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type DocumentFacts, openApiOf } from '../../src/http/documents/openapi.ts';
import { NETWORK_IDS } from '../../src/payment/protocol/network.ts';
import {
  ADMIN_OPERATIONS,
  type DeclaredSurface,
  ERROR_CODES,
  INTERNAL_OPERATIONS,
  OPERATIONS,
  OTHER_SURFACES,
  PAGE_PATHS,
  TAGS,
} from './declared.ts';

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
}
export interface PublishedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: { readonly type?: string; readonly const?: unknown };
}
export interface PublishedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, PublishedHeader>>;
  readonly content?: Readonly<Record<string, Media>>;
}
export interface Operation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly servers?: readonly { readonly url: string }[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Record<string, unknown>;
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly security?: unknown;
  readonly 'x-payment-info'?: unknown;
  readonly 'x-credits'?: unknown;
  readonly responses: Readonly<Record<string, PublishedResponse>>;
}
export interface Contract {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, PublishedHeader>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

/** What is checked of one exchange. */
export interface Seen {
  readonly method: string;
  /** Path as sent, without its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** undefined: too long to check. */
  readonly bytes: Uint8Array | undefined;
}

/** Headers with a meaning of their own: sent only where the contract lists them. */
const LISTED_HEADERS = [
  'Allow',
  'Link',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'Retry-After',
  'WWW-Authenticate',
  'X-Credits-Charged',
  'X-Credits-Remaining',
  'X-Original-Content-Type',
];

/** The checker's name for the document into which references lead. */
const DOCUMENT = 'contract';

const ERROR_OBJECT = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { enum: ERROR_CODES },
        message: { type: 'string', minLength: 1 },
        request_id: { type: 'string' },
      },
      required: ['code', 'message', 'request_id'],
      additionalProperties: false,
    },
  },
  required: ['error'],
  additionalProperties: false,
};

/** The pages for people are not published; for a request that does not ask for HTML, their paths are unknown. */
const isPage = ({ path, status, headers }: Seen): boolean =>
  PAGE_PATHS.has(path) && status === 200 && headers.get('content-type') === 'text/html; charset=utf-8';

const isPreflight = ({ method, status, headers }: Seen): boolean =>
  method === 'OPTIONS' && status === 204 && headers.get('access-control-allow-methods') !== null;

/** A document as a checker of responses. */
/** A server's document names only its network, but this checker sees servers of every network. */
function ofEveryNetwork(schemas: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const { PaymentRequirements: requirements } = schemas as { PaymentRequirements?: { properties?: object } };
  if (requirements === undefined) return schemas;
  const properties = { ...requirements.properties, network: { enum: NETWORK_IDS } };
  return { ...schemas, PaymentRequirements: { ...requirements, properties } };
}

export class Published {
  readonly contract: Contract;
  /**
   * Compiled for few uses: optimizing the code would take longer than it saves. The contract test holds the document itself against
   * the standard, so it is not done again in every worker.
   */
  readonly #ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  readonly #validators = new Map<object, ValidateFunction>();
  /** Operations repeat headers and references: what is written alike is compiled once. */
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #fixed = new Set<string>();
  readonly #templates: { readonly form: RegExp; readonly template: string }[] = [];

  constructor(contract: Contract) {
    this.contract = contract;
    this.#ajv.addSchema({ components: { schemas: ofEveryNetwork(contract.components.schemas) } }, DOCUMENT);
    for (const template of Object.keys(contract.paths)) {
      if (template.includes('{')) {
        this.#templates.push({ form: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`), template });
      } else this.#fixed.add(template);
    }
  }

  /** The path template in the document for a request's path. */
  templateOf(path: string): string | undefined {
    if (this.#fixed.has(path)) return path;
    return this.#templates.find(({ form }) => form.test(path))?.template;
  }

  /** What is wrong with a response, or undefined. */
  fault(seen: Seen): string | undefined {
    const template = this.templateOf(seen.path);
    if (template === undefined && isPage(seen)) return undefined;
    const fault = template === undefined ? this.#strangerFault(seen) : this.#operationFault(seen, template);
    if (fault === undefined) return undefined;
    const text = Buffer.from(seen.bytes ?? [])
      .toString('utf8')
      .slice(0, 300);
    return `${seen.method} ${seen.path} ${seen.status}: ${fault}; ${text}`;
  }

  /** An unpublished path has only one valid answer, besides that to a preflight. */
  #strangerFault(seen: Seen): string | undefined {
    const { method, status, headers, bytes } = seen;
    if (isPreflight(seen)) return undefined;
    if (status !== 404) return 'not published';
    if (headers.get('content-type') !== 'application/json') return `content type ${headers.get('content-type')}`;
    return method === 'HEAD' || bytes === undefined ? undefined : this.#bodyFault(ERROR_OBJECT, bytes);
  }

  #operationFault(seen: Seen, template: string): string | undefined {
    const item = this.contract.paths[template]!;
    const operation = item[seen.method.toLowerCase()];
    if (operation !== undefined) return this.#responseFault(seen, operation);
    if (isPreflight(seen)) return undefined;
    if (seen.status !== 405) return 'the path does not publish this method';
    for (const [method, other] of Object.entries(item)) {
      if (method === 'head') continue; // refusals to HEAD have no body, this one has
      const fault = this.#responseFault(seen, other);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #responseFault({ method, status, headers, bytes }: Seen, { responses }: Operation): string | undefined {
    const published = responses[String(status)];
    if (published === undefined) return 'this status is not published';
    const faults = this.#headerFaults(headers, published.headers ?? {});
    if (faults.length > 0) return faults.join('; ');
    if (method === 'HEAD' || published.content === undefined) {
      return bytes?.length === 0 ? undefined : 'a body where none is published';
    }
    const type = (headers.get('content-type') ?? '').split(';')[0]!.trim();
    const media = published.content[type];
    if (media === undefined) return `content type ${type}, not ${Object.keys(published.content)}`;
    return media.schema === undefined || bytes === undefined ? undefined : this.#bodyFault(media.schema, bytes);
  }

  #headerFaults(headers: Headers, published: Readonly<Record<string, PublishedHeader>>): string[] {
    const faults: string[] = [];
    for (const [name, written] of Object.entries(published)) {
      const header =
        written.$ref === undefined ? written : this.contract.components.headers[written.$ref.split('/').at(-1)!]!;
      const text = headers.get(name);
      if (text === null) {
        if (header.required === true) faults.push(`${name} is missing`);
        continue;
      }
      const schema = header.schema ?? {};
      const value = schema.type === 'integer' ? Number(text) : text;
      if (!this.#validator(schema)(value)) faults.push(`${name}: ${text}`);
    }
    const listed = new Set(Object.keys(published).map((name) => name.toLowerCase()));
    for (const name of LISTED_HEADERS) {
      if (headers.get(name) !== null && !listed.has(name.toLowerCase())) faults.push(`${name} is not published`);
    }
    return faults;
  }

  #bodyFault(schema: object, bytes: Uint8Array): string | undefined {
    let body: unknown;
    try {
      body = JSON.parse(Buffer.from(bytes).toString('utf8'));
    } catch {
      return 'not JSON';
    }
    const validate = this.#validator(schema);
    return validate(body) ? undefined : this.#ajv.errorsText(validate.errors);
  }

  #validator(schema: object): ValidateFunction {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      // Referenced schemas are compiled once for all schemas.
      const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`);
      validate = this.#compiled.get(text) ?? this.#ajv.compile(JSON.parse(text) as object);
      this.#compiled.set(text, validate);
      this.#validators.set(schema, validate);
    }
    return validate;
  }
}

let ours: Published | undefined;
let ofOperator: Published | undefined;

const FACTS = { title: 'paygrade', version: '0', description: '', serverUrl: 'https://shop.example/api', tags: TAGS };

const documentOf = (operations: typeof OPERATIONS, facts: DocumentFacts = FACTS): Published =>
  new Published(JSON.parse(JSON.stringify(openApiOf(operations, facts))) as Contract);

/** What is wrong with a response of an operation for operators or gates, by their unpublished document. */
function operatorFault(seen: Seen): string | undefined {
  ofOperator ??= documentOf([...ADMIN_OPERATIONS, ...INTERNAL_OPERATIONS]);
  return ofOperator.fault(seen);
}

/** What is wrong with a response of a server of ours, or undefined. Without an ADMIN_TOKEN the operator's paths are unknown. */
export function faultOf(seen: Seen): string | undefined {
  const surface = OTHER_SURFACES.find(({ path }) => seen.path.startsWith(`${path}/`));
  if (surface !== undefined) return publishedAt(surface).fault({ ...seen, path: seen.path.slice(surface.path.length) });
  const fault = publishedContract().fault(seen);
  return fault === undefined || !/^\/(?:admin|internal)\//.test(seen.path) ? fault : operatorFault(seen);
}

const ofSurfaces = new Map<DeclaredSurface, Published>();

/** The contract of a surface other than the base. */
export function publishedAt(surface: DeclaredSurface): Published {
  const { operations, path, tags, title } = surface;
  const known =
    ofSurfaces.get(surface) ?? documentOf(operations, { ...FACTS, title, serverUrl: FACTS.serverUrl + path, tags });
  ofSurfaces.set(surface, known);
  return known;
}

/** The contract of this source tree, as published by the server of the contract test. */
export function publishedContract(): Published {
  ours ??= documentOf(OPERATIONS);
  return ours;
}

/** Ports of our servers in this worker. */
const ownPorts = new Set<string>();
/** Additional paths of a test's own server. */
const unpublishedPaths = new Set<string>();
const faults: string[] = [];
let checkedCount = 0;

/** From now on checks responses from the port. @param paths paths outside the contract */
export function expectPublishedOn(port: number, paths: readonly string[] = []): void {
  ownPorts.add(String(port));
  for (const path of paths) unpublishedPaths.add(path);
}

/** Call when the port's server has ended: the system may give the port to another program. */
export function expectNothingOn(port: number): void {
  ownPorts.delete(String(port));
}

export const isOwnPort = (port: string): boolean => ownPorts.has(port);

/** Records what is wrong with a response; the running test fails for it. */
export function checkPublished(seen: Seen): void {
  if (unpublishedPaths.has(seen.path)) return;
  checkedCount++;
  const fault = faultOf(seen);
  if (fault !== undefined) faults.push(fault);
}

/** The faults since the last call, and how many responses were checked. */
export function takeFaults(): { readonly faults: readonly string[]; readonly checkedCount: number } {
  return { faults: faults.splice(0), checkedCount };
}

/**
 * Parsing longer bodies would delay tests that measure how long others wait, so only status and headers are checked.
 */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Checks a response, whose body can still be read. */
export async function checkedResponse(method: string, url: string, response: Response): Promise<Response> {
  const { status, headers } = response;
  const isLong = Number(headers.get('content-length') ?? 0) > BODY_BYTES_MAX;
  const bytes = isLong ? undefined : new Uint8Array(await response.clone().arrayBuffer());
  checkPublished({ method, path: new URL(url).pathname, status, headers, bytes });
  return response;
}
