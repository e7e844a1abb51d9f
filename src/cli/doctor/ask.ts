/** One HTTP request of a check: bounded in time and size, follows no redirect, and reports a failure as a code. */
import { fetchCodeOf } from '../../adapters/outbound/connection-failure.ts';
import { readAtMost } from '../../base/bounded-stream.ts';
import { MIB } from '../../base/sizes.ts';

const ANSWER_BYTES_MAX = MIB;

export type Asked =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly text: string }
  /** `code`: of the system or runtime, else a short text. */
  | { readonly kind: 'failed'; readonly code: string };

interface Asking {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** undefined: the body is longer than {@link ANSWER_BYTES_MAX}. */
async function readText({ body }: Response): Promise<string | undefined> {
  if (body === null) return '';
  const reader = body.getReader();
  const bytes = await readAtMost(reader, ANSWER_BYTES_MAX);
  if (bytes === undefined) await reader.cancel();
  return bytes && Buffer.from(bytes).toString('utf8');
}

/** Never rejects. */
export async function ask(url: string, { method = 'GET', headers = {}, timeoutMs }: Asking): Promise<Asked> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method, headers, signal, redirect: 'manual' });
    const text = await readText(response);
    if (text === undefined) return { kind: 'failed', code: `an answer over ${ANSWER_BYTES_MAX} bytes` };
    return { kind: 'answer', status: response.status, headers: response.headers, text };
  } catch (failure) {
    return { kind: 'failed', code: signal.aborted ? `no answer in ${timeoutMs / 1000} s` : fetchCodeOf(failure) };
  }
}
