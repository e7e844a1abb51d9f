/**
 * The form in which a listener takes its responses: as Fetch `Response`s, or as data that it writes itself. A server has one
 * form; respond.ts makes every response in it.
 */
import type { HeaderRecord } from './answers.ts';
import type { PreparedHeaders } from './hot/prepared-headers.ts';
import { PlainResponse, type ResponseBody } from './plain-response.ts';

/** What the server itself reads from a response. */
export interface MadeResponse {
  readonly status: number;
}

export interface ResponseForm<R extends MadeResponse = Response> {
  /** Whether `make` copies Headers and bytes, as Bun's Response does: then one object serves many responses. */
  readonly copies: boolean;
  make(body: ResponseBody, status: number, headers: PreparedHeaders): R;
  /** The same as a `Response`, for callers inside the process. */
  asFetch(response: R): Response;
}

/** @param copies as {@link ResponseForm.copies}, which the runtime's Response decides */
export const fetchResponses = (copies: boolean): ResponseForm => ({
  copies,
  make: (body, status, headers) => new Response(body, { status, headers }),
  asFetch: (response) => response,
});

export const PLAIN_RESPONSES: ResponseForm<PlainResponse> = {
  copies: false,
  make: (body, status, headers) => new PlainResponse(body, status, headers as HeaderRecord),
  asFetch: ({ body, status, headers }) => new Response(body, { status, headers }),
};
