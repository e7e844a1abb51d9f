/** Runs before every test file: whatever `fetch` brings from a server of ours is held against the published contract. */
import { afterAll, afterEach } from 'vitest';
import { checkedResponse, isOwnPort, takeFaults } from './published.ts';

const plainFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const isRequest = input instanceof Request;
  const url = isRequest ? input.url : String(input);
  if (!isOwnPort(new URL(url).port)) return response;
  const method = (init?.method ?? (isRequest ? input.method : 'GET')).toUpperCase();
  return checkedResponse(method, url, response);
};

function failOnFaults(): void {
  const { faults } = takeFaults();
  if (faults.length > 0) throw new Error(`not as the contract publishes it:\n${faults.join('\n')}`);
}

afterEach(failOnFaults);
afterAll(failOnFaults);
