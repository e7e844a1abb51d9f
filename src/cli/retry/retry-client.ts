/** What the `retry` commands share: their options, the named job, and how to show a job to people. */
import { printable } from '../../base/printable.ts';
import { oneLine } from '../callback/event-line.ts';
import { type TextOption, UsageError } from '../command.ts';
import { type Answer, objectFrom, patientExchange, refused } from '../exchange.ts';
import type { Io } from '../io.ts';
import { credentialFrom, serverOf, URL_OPTION } from '../server-address.ts';

export const url = URL_OPTION;
export const json = { type: 'flag', help: 'the answer as one line of JSON' } as const;
export const token: TextOption = {
  type: 'text',
  value: 'TOKEN',
  help: 'read token of the job, or API key; READ_TOKEN or API_KEY in the environment hides it from other users',
};
export const key: TextOption = {
  type: 'text',
  value: 'KEY',
  help: 'API key of the organization; API_KEY in the environment hides it from other users',
};
export const ID = { name: 'RETRY', help: 'id of the job, rt_…, or its status_url', count: 'one' } as const;

/** Where the Retry API of a server is. @throws UsageError */
export const retryApiOf = (given: string | undefined, env: Io['env']): string => `${serverOf(given, env)}/retry`;

/** @throws UsageError when neither the option nor the environment gives one */
export function credentialOf(given: string | undefined, { env }: Io): string {
  const found = given || env.READ_TOKEN || env.API_KEY;
  if (!found) throw new UsageError('the credential is missing: set READ_TOKEN or API_KEY, or --token');
  return credentialFrom(found, 'credential');
}

/** Undefined when neither the option nor the environment gives one. @throws UsageError */
export function keyFrom(given: string | undefined, { env }: Io): string | undefined {
  const found = given || env.API_KEY;
  return found ? credentialFrom(found, 'API key') : undefined;
}

/** The job's own address. @param named an id, or the address from its creation @throws UsageError */
export function addressOf(named: string, given: string | undefined, env: Io['env']): string {
  if (/^https?:/i.test(named)) {
    const end = /\/v1\/retries\/[^/?#]+/.exec(named);
    if (end === null) throw new UsageError(`${ID.name} must be an id such as rt_… or the job's status_url`);
    return named.slice(0, end.index + end[0].length);
  }
  return `${retryApiOf(given, env)}/v1/retries/${encodeURIComponent(named)}`;
}

/** As `read`, but waits for a server that is away. @throws CommandError */
export async function readPatiently(target: string, credential: string, signal: AbortSignal, io: Io): Promise<Answer> {
  const answer = await patientExchange(target, { signal, headers: { authorization: `Bearer ${credential}` } }, io);
  if (answer.status !== 200) throw refused(answer);
  return answer;
}

export interface ShownRetry {
  readonly id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly max_attempts: number;
  readonly next_attempt_at: string | null;
  readonly result: { readonly status_code: number } | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly callback_status: string;
}

export const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'expired']);

/** A job for people: one line a fact. */
function retryLines(retry: ShownRetry): string {
  const { id, status, attempt_count: count, max_attempts: most, next_attempt_at: next, result, failure } = retry;
  const lines: (readonly [string, string])[] = [
    ['id', id],
    ['status', status],
    ['attempts', `${count} of ${most}`],
    ['callback', retry.callback_status],
  ];
  if (next !== null) lines.push(['next attempt', next]);
  if (result !== null) lines.push(['answer', String(result.status_code)]);
  if (failure !== null) lines.push(['failure', `${failure.code}: ${failure.message}`]);
  return lines.map(([name, value]) => `${name.padEnd(14)}${printable(value)}\n`).join('');
}

/** Prints a job as the server sent it. */
export function show(answer: Answer, isJson: boolean, { stdout }: Io): void {
  const retry = objectFrom<ShownRetry>(answer, 'attempt_count');
  stdout.write(isJson ? `${oneLine(answer.text)}\n` : retryLines(retry));
}
