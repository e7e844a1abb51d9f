/** What the `callback` commands share: their options, requests to the server, and its refusals as errors of a command. */
import { printable } from '../../base/printable.ts';
import { CommandError, type TextOption, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { ANSWER_TIMEOUT_MS, baseOf, noAnswer, URL_OPTION } from '../paying-client.ts';
import { SHOWN_BODY_LENGTH } from './event-line.ts';

export const url = URL_OPTION;
export const token: TextOption = {
  type: 'text',
  value: 'TOKEN',
  help: 'read token; READ_TOKEN in the environment hides it from other users',
};
export const json = { type: 'flag', help: 'JSON on stdout, one object per line' } as const;
export const ID = { name: 'ID', help: 'id of the callback, cb_…', count: 'one' } as const;

interface ErrorAnswer {
  readonly error?: { readonly code?: string; readonly message?: string };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** @throws UsageError when neither the option nor READ_TOKEN gives a token */
export function tokenOf(given: string | undefined, io: Io): string {
  const found = given ?? io.env.READ_TOKEN;
  if (found === undefined || found === '')
    throw new UsageError('the read token is missing: set READ_TOKEN, or --token');
  return found;
}

/** Address of a callback's own routes, without a trailing slash. @throws UsageError */
export const callbackUrl = (base: string, id: string): string =>
  `${baseOf(base)}/v1/callbacks/${encodeURIComponent(id)}`;

/** One request and its whole answer, whatever the status. @throws CommandError when no answer comes */
export async function exchange(target: string, init: RequestInit, send: typeof fetch = fetch): Promise<Answer> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    response = await send(target, { ...init, signal });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (failure) {
    throw noAnswer(target, failure);
  }
  return { status: response.status, text: new TextDecoder().decode(bytes), bytes };
}

/** The error object of an answer; an answer without one gives its text. */
export function errorOf({ text }: Answer): { readonly code: string; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as ErrorAnswer;
    return { code: printable(String(error?.code ?? 'no code')), message: printable(String(error?.message ?? '')) };
  } catch {
    return { code: 'no code', message: printable(text, SHOWN_BODY_LENGTH) };
  }
}

/** The error that a command ends with when the server refuses. */
export function refused(answer: Answer): CommandError {
  const { code, message } = errorOf(answer);
  return new CommandError(`${answer.status} ${code}: ${message}`);
}

/** An authorized request that must succeed. @throws CommandError for any status but 200 */
export async function read(target: string, readToken: string, method = 'GET'): Promise<Answer> {
  const answer = await exchange(target, { method, headers: { authorization: `Bearer ${readToken}` } });
  if (answer.status !== 200) throw refused(answer);
  return answer;
}
