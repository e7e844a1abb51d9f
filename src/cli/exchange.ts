/** Requests of the commands to a server of paygrade, and its refusals as errors of a command. */
import { setTimeout } from 'node:timers/promises';
import { findFetchCode } from '../adapters/outbound/connection-failure.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { messageOf } from '../base/failure.ts';
import { isObject, parseJson } from '../base/json-value.ts';
import { printable } from '../base/printable.ts';
import { CommandError } from './command.ts';
import type { Io } from './io.ts';

/** How much is shown of an answer that is not as paygrade's. */
const SHOWN_LENGTH = 200;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  header(name: string): string | null;
}

interface ErrorAnswer {
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** Longer than any answer takes, including a wait of 30 s. */
const ANSWER_TIMEOUT_MS = MINUTE_MS;

/** Codes of a refused connection: Node's, and Bun's. */
const REFUSED_CODES: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ConnectionRefused']);

/** The error that a command ends with when fetch fails. */
export function noAnswer(target: string, failure: unknown): CommandError {
  const { origin } = new URL(target);
  const code = findFetchCode(failure);
  if (REFUSED_CODES.has(code)) {
    return new CommandError(
      `no server listens at ${origin}: start one with \`npm start\`, or name its address with --url or PAYGRADE_URL`,
    );
  }
  return new CommandError(
    `no answer from ${origin}: ${code ?? messageOf((failure instanceof Error && failure.cause) || failure)}`,
  );
}

/** One request and its whole answer, whatever the status. @throws CommandError when no answer comes */
export async function exchange(target: string, init: RequestInit, send: typeof fetch = fetch): Promise<Answer> {
  let response: Response;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    response = await send(target, { ...init, signal });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (failure) {
    // A paying client refuses an offer with an error of the command.
    throw failure instanceof CommandError ? failure : noAnswer(target, failure);
  }
  return {
    status: response.status,
    text: new TextDecoder().decode(bytes),
    bytes,
    header: (name) => response.headers.get(name),
  };
}

/** How long a waiting command tolerates that its server is away, for example while it restarts. */
const ABSENCE_MS_MAX = MINUTE_MS;
/** Pause between two attempts while it is away. */
const ABSENCE_PAUSE_MS = 1_000;
/** Statuses of a server that starts or stops, or of a proxy whose server is away. */
const AWAY_STATUSES: readonly number[] = [502, 503, 504];

/**
 * As `exchange`, for a command that waits for something that outlives a server restart: reports once that nothing
 * answers, and asks again. Only for requests that may be repeated.
 * @throws CommandError when nothing has answered for a minute since the first failure
 */
export async function patientExchange(
  target: string,
  init: RequestInit & { readonly signal: AbortSignal },
  { stderr }: Io,
): Promise<Answer> {
  let untilMs: number | undefined;
  for (;;) {
    const attempt = await exchange(target, init).catch((failure: unknown) => failure as CommandError);
    if (!(attempt instanceof Error) && !AWAY_STATUSES.includes(attempt.status)) return attempt;
    const fault = attempt instanceof Error ? attempt : refused(attempt);
    if (init.signal.aborted || performance.now() > (untilMs ?? Number.POSITIVE_INFINITY)) throw fault;
    if (untilMs === undefined) stderr.write(`${fault.message}; trying again for a minute\n`);
    untilMs ??= performance.now() + ABSENCE_MS_MAX;
    await pause(ABSENCE_PAUSE_MS, init.signal);
  }
}

/** Ends at once when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}

/** The error object of an answer; without one, made from the answer's text. */
export function errorOf({ text }: Answer): { readonly code: string; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as ErrorAnswer;
    return { code: printable(String(error?.code ?? 'no code')), message: printable(String(error?.message ?? '')) };
  } catch {
    return { code: 'no code', message: printable(text, SHOWN_LENGTH) };
  }
}

/** The error of a command when the server refuses. */
export function refused(answer: Answer): CommandError {
  const { code, message } = errorOf(answer);
  return new CommandError(`${answer.status} ${code}: ${message}`);
}

/**
 * The object of an answer that succeeded.
 * @param member a member of every such object, but not of other servers' JSON
 * @throws CommandError when another kind of server answers
 */
export function objectFrom<Shown extends object>({ status, text }: Answer, member: keyof Shown & string): Shown {
  const value = parseJson(text);
  if (isObject(value) && member in value) return value as Shown;
  const shown = printable(text, SHOWN_LENGTH);
  throw new CommandError(`the server answered ${status}, but not as paygrade does; check its address: ${shown}`);
}

/** An authorized request that must succeed. @throws CommandError for any status but 200 */
export async function read(
  target: string,
  credential: string,
  init: Omit<RequestInit, 'headers'> = {},
): Promise<Answer> {
  const answer = await exchange(target, { ...init, headers: { authorization: `Bearer ${credential}` } });
  if (answer.status !== 200) throw refused(answer);
  return answer;
}
