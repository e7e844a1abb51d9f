/** One HTTP request of a check: bounded in time and size, follows no redirect, and reports a failure as a code. */
import { errorCodeOf } from '../../base/failure.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;

export type Asked =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly text: string }
  /** `code`: of the system or runtime, else a short text. */
  | { readonly kind: 'failed'; readonly code: string };

interface Asking {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The innermost code: fetch wraps the telling failure in a generic one. */
function innermostCodeOf(failure: unknown): string {
  const { cause, name, message } = (failure ?? {}) as { cause?: unknown; name?: unknown; message?: unknown };
  if (typeof cause === 'object' && cause !== null) return innermostCodeOf(cause);
  // A plain Error tells more by its message, such as `bad port`.
  const said = name === 'Error' && message !== '' ? message : name;
  return errorCodeOf(failure) ?? (typeof said === 'string' ? said : 'unknown failure');
}

async function readText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return Buffer.concat(chunks).toString('utf8');
    byteCount += value.length;
    if (byteCount > ANSWER_BYTES_MAX) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(value);
  }
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
    return { kind: 'failed', code: signal.aborted ? `no answer in ${timeoutMs / 1000} s` : innermostCodeOf(failure) };
  }
}
