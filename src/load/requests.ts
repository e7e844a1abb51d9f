/**
 * What is asked: request texts of HTTP/1.1, and the questions of the jobs routes. Every request goes to the server under
 * load: addresses that it gives out (`callback_url`, `next_wait_url`) may lead elsewhere and are never followed.
 */
import type { Answer, Reply } from './connection.ts';
import type { Target } from './target.ts';

/** One character a byte; header values and body must be Latin-1. */
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

const ROLES = ['engineer', 'data engineer', 'designer', 'product manager', 'nurse', 'sales', 'analyst', 'senior'];

const encoded = (words: string): string => encodeURIComponent(words).replaceAll('%20', '+');

/** Questions for signals and search: different terms, so that no single answer is asked for over and over. */
export const QUESTIONS: readonly string[] = ROLES.flatMap((role) => [
  `/v1/jobs/signals?role=${encoded(role)}&limit=5`,
  `/v1/jobs/search?keyword=${encoded(role)}&limit=10`,
]);

export const companyQuestion = (domain: string): string => `/v1/jobs/company?company=${encodeURIComponent(domain)}`;

const ERROR_CODE = /^\s*\{\s*"error"\s*:\s*\{\s*"code"\s*:\s*"([A-Z][A-Z0-9_]{0,63})"/;

/** Status, and the code of our error object where there is one. */
export function outcomeOf({ status, body }: Answer): string {
  if (status < 400) return String(status);
  const code = ERROR_CODE.exec(body.toString('latin1', 0, 200))?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** For a message about a reply that was not the expected one. */
export const saidOf = (reply: Reply): string => (reply.kind === 'failure' ? reply.code : outcomeOf(reply));

/** The body as JSON, or undefined. */
export function jsonOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch {
    return undefined;
  }
}
