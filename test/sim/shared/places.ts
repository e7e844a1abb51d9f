/** What customers of several processes ask for. */
import { COMPANY } from '../catalogues.ts';
import type { Purchase } from '../purchase.ts';
import { RETRIES_URL } from '../retry-clients.ts';
import { BASE_URL } from '../server.ts';
import type { Wanted } from './names.ts';

const orderOf = (path: string): string =>
  `{"request":{"method":"GET","url":"https://well.example.com/${path}"},"policy":{"max_attempts":1}}`;

export const PLACES = {
  search: { method: 'GET', url: `${BASE_URL}/v1/jobs/search?limit=3`, order: undefined },
  company: { method: 'GET', url: `${BASE_URL}/v1/jobs/company?company=${COMPANY}`, order: undefined },
  create: { method: 'POST', url: `${BASE_URL}/v1/callbacks`, order: undefined },
  retry: { method: 'POST', url: RETRIES_URL, order: orderOf('') },
} as const;
export type Place = keyof typeof PLACES;
/** Other questions than those. */
export const OTHER = { url: `${BASE_URL}/v1/jobs/search?limit=2`, order: orderOf('other') } as const;

export const requestOf = (
  { header, idempotencyKey, route }: Purchase,
  { url, order }: Pick<Wanted, 'url' | 'order'>,
): Request =>
  new Request(url, {
    method: PLACES[route as Place].method,
    headers: {
      'payment-signature': header,
      ...(order === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(order === undefined ? {} : { body: order }),
  });
