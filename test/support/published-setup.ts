/** Runs before every test file: checks every `fetch` response of our servers against the published contract. */
import { afterAll, afterEach } from 'vitest';
import { checkedResponse, isOwnPort, takeFaults } from './published.ts';

interface CheckedFetch {
  (...args: Parameters<typeof fetch>): Promise<Response>;
  /** Files of one worker share its `fetch`: it is replaced once. */
  readonly isChecked?: true;
}

function checked(plainFetch: typeof fetch): CheckedFetch {
  const checkedFetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await plainFetch(input, init);
    // Not by `instanceof`: a listener for Node replaces the global Request.
    const isRequest = typeof input === 'object' && 'method' in input;
    const url = isRequest ? input.url : String(input);
    if (!isOwnPort(new URL(url).port)) return response;
    const method = (init?.method ?? (isRequest ? input.method : 'GET')).toUpperCase();
    return checkedResponse(method, url, response);
  };
  return Object.assign(checkedFetch, { isChecked: true as const });
}

if ((globalThis.fetch as CheckedFetch).isChecked === undefined)
  globalThis.fetch = checked(globalThis.fetch) as typeof fetch;

function failOnFaults(): void {
  const { faults } = takeFaults();
  if (faults.length > 0) throw new Error(`not as the contract publishes it:\n${faults.join('\n')}`);
}

afterEach(failOnFaults);
afterAll(failOnFaults);
