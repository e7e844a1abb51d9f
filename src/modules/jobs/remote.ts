/**
 * The jobs routes of a gate (siblings §8): the same declarations, but their handlers ask a jobs service in place of the
 * catalogue. By then the input is validated and the payment reserved; anything but an answer becomes a refusal, which charges
 * nothing.
 */
import * as v from 'valibot';
import { parseJson } from '../../base/json-value.ts';
import type { RemoteCatalogue } from '../../catalogue/remote-catalogue.ts';
import { type ErrorCode, type Refusal, refuse } from '../../http/errors.ts';
import type { Route } from '../../http/route.ts';
import { CATALOGUE_UNAVAILABLE, UPSTREAM_INVALID_RESPONSE, UPSTREAM_TIMEOUT } from '../catalogue-refusals.ts';
import type { JobsServices } from './services.ts';

/** Longest message of a 404 that is passed on. */
const MESSAGE_LENGTH_MAX = 500;

/** The body of a 404 (callback.md "Error object"); its request id is the service's own. */
const notFound = v.strictObject({
  error: v.strictObject({
    code: v.string(),
    message: v.pipe(v.string(), v.maxLength(MESSAGE_LENGTH_MAX)),
    request_id: v.string(),
  }),
});

const servicesUnavailable = (detail?: string): Refusal<'CATALOGUE_UNAVAILABLE'> =>
  refuse(CATALOGUE_UNAVAILABLE, 'the catalogue cannot be reached now; nothing was charged', { detail });

/** The parameters with their defaults as a query, for the same route of the jobs service. */
const queryOf = (input: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)])).toString();

/**
 * Checks an answer of a jobs service: a 200 against the route's closed schema, a 404 against its codes. A 200 is passed on as
 * the parsed object, never as text: text can repeat a member, of which the schema saw only one.
 */
export function answerReader({ answer, errors }: Pick<Route, 'answer' | 'errors'>) {
  const codes = new Map(errors.filter(({ status }) => status === 404).map((one) => [one.code, one]));
  const parserOf = v.safeParser(answer, { abortEarly: true });
  return (status: 200 | 404, text: string): object | undefined => {
    const body = parseJson(text);
    if (status === 200) {
      const read = parserOf(body);
      return read.success ? (read.output as object) : undefined;
    }
    if (!v.is(notFound, body)) return undefined;
    const code: ErrorCode | undefined = codes.get(body.error.code);
    return code && refuse(code, body.error.message);
  };
}

/** The same route, answered by jobs services. */
export function remoteRoute(route: Route<JobsServices>, remote: RemoteCatalogue): Route<JobsServices> {
  const { path } = route;
  const paced = { answerSeconds: Math.ceil(remote.timeoutMs / 1000) };
  const read = answerReader(route);
  return {
    ...route,
    /** Tells the payment how long the answer may take (decisions §4). */
    readBody: () => paced,
    ready: () => (remote.canAsk() ? undefined : servicesUnavailable()),
    async handle(input): Promise<unknown> {
      const asked = await remote.ask({ path, query: queryOf(input), read });
      switch (asked.kind) {
        case 'answer':
          return asked.answer;
        case 'invalid':
          return refuse(UPSTREAM_INVALID_RESPONSE, 'the catalogue gave no valid answer; nothing was charged', asked);
        case 'late':
          return refuse(UPSTREAM_TIMEOUT, 'the catalogue did not answer in time; nothing was charged', asked);
        case 'unavailable':
          return servicesUnavailable(asked.detail);
        default:
          return asked satisfies never;
      }
    },
  };
}
