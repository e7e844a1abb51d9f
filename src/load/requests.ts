/**
 * The requests of a load test: their HTTP/1.1 text, and the paths of the jobs routes. Every request goes to the server under
 * load. The generator never follows an address in an answer (`callback_url`, `next_wait_url`), which may lead elsewhere.
 */
import { parseJson } from '../base/json-value.ts';
import type { Answer, Reply } from './connection.ts';
import type { Target } from './target.ts';

/** Builds request texts, one character per byte; header values and bodies must be Latin-1. */
export class Requests {
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): string {
    return `${this.#head('GET', path, headers)}\r\n`;
  }

  delete(path: string, headers: Readonly<Record<string, string>>): string {
    return `${this.#head('DELETE', path, headers)}\r\n`;
  }

  post(path: string, headers: Readonly<Record<string, string>>, body: string): string {
    return `${this.#head('POST', path, headers)}content-length: ${body.length}\r\n\r\n${body}`;
  }

  #head(method: string, path: string, headers: Readonly<Record<string, string>>): string {
    const { basePath, hostHeader } = this.#target;
    let text = `${method} ${basePath}${path} HTTP/1.1\r\nhost: ${hostHeader}\r\nuser-agent: paygrade-load\r\n`;
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
    return text;
  }
}

export const ROLES = [
  'engineer',
  'data engineer',
  'designer',
  'product manager',
  'nurse',
  'sales',
  'analyst',
  'senior',
];

const question = (route: string, parameters: Readonly<Record<string, string>>): string =>
  `/v1/jobs/${route}?${new URLSearchParams(parameters)}`;

/** Paths of the routes that search or count, with different terms, so that the server cannot repeat one answer. */
export const QUESTIONS: readonly string[] = ROLES.flatMap((role) => [
  question('signals', { role, limit: '5' }),
  question('search', { keyword: role, limit: '10' }),
  question('changes', { role, limit: '10' }),
  question('skills', { role, limit: '10' }),
  question('market', { role }),
]);

export const detailQuestion = (id: string): string => question('detail', { id });

export const companyQuestion = (company: string): string => question('company', { company });

const ERROR_CODE = /^\s*\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"([A-Z][A-Z0-9_]{0,63})"/;

/** Status, and the error code if the body has one. */
export function outcomeOf({ status, body }: Answer): string {
  if (status < 400) return String(status);
  const code = ERROR_CODE.exec(body.toString('latin1', 0, 200))?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** Describes an unexpected reply in a message. */
export const saidOf = (reply: Reply): string => (reply.kind === 'failure' ? reply.code : outcomeOf(reply));

/** Advice for an answer 429 of a route that counts requests by client. */
export const RATE_LIMIT_ADVICE = 'start the server with RATE_LIMIT_PER_MINUTE=0 and CALLBACK_LIMIT_PER_MINUTE=0';

/** As {@link saidOf}, for a route that counts requests by client. */
export const saidWithAdvice = (reply: Reply): string =>
  saidOf(reply) + (reply.kind === 'answer' && reply.status === 429 ? `; ${RATE_LIMIT_ADVICE}` : '');

/** The body as JSON, or undefined. */
export const jsonOf = (answer: Answer): unknown => parseJson(answer.body.toString('utf8'));
