/** The job of the contract's examples. */
import { REQUEST_BYTES_MAX, RESPONSE_BYTES_MAX } from '../../retry/limits.ts';

export const EXAMPLE_ID = 'rt_k3J9sQ2mXv7Lr0TzWb5Nd8Ha';
const OWN = `https://retry.example.com/v1/retries/${EXAMPLE_ID}`;
const EXAMPLE_CREATED_AT = '2026-11-20T12:00:00.000Z';
export const EXAMPLE_ENDED_AT = '2026-11-20T12:00:05.120Z';

export const EXAMPLE_BODY = {
  request: {
    method: 'POST',
    url: 'https://api.example.com/orders',
    headers: { authorization: 'Bearer example' },
    body: { order: 17 },
  },
  policy: { max_attempts: 5 },
  callback_url: 'https://hooks.example.com/done',
  deadline_seconds: 3600,
};

export const EXAMPLE_CREATED = {
  id: EXAMPLE_ID,
  status: 'scheduled',
  status_url: OWN,
  attempts_url: `${OWN}/attempts`,
  callback_status_url: `${OWN}/callback`,
  read_token: `svc_rt_sk_${'Example'.repeat(7).slice(0, 43)}`,
  callback_secret: `whsec_${Buffer.from('example'.repeat(5).slice(0, 32)).toString('base64')}`,
  created_at: EXAMPLE_CREATED_AT,
  expires_at: '2026-11-20T13:00:00.000Z',
  limits: { max_attempts: 5, request_bytes: REQUEST_BYTES_MAX, response_bytes: RESPONSE_BYTES_MAX },
};

export const EXAMPLE_REPEATED = { ...EXAMPLE_CREATED, read_token: null, callback_secret: null };

export const EXAMPLE_RETRY = {
  id: EXAMPLE_ID,
  status: 'succeeded',
  created_at: EXAMPLE_CREATED_AT,
  updated_at: EXAMPLE_ENDED_AT,
  expires_at: '2026-11-20T13:00:00.000Z',
  attempt_count: 2,
  max_attempts: 5,
  next_attempt_at: null,
  result: {
    status_code: 201,
    content_type: 'application/json',
    body: { accepted: true },
    size_bytes: 17,
    truncated: false,
  },
  failure: null,
  callback_status: 'delivered',
};

export const EXAMPLE_ATTEMPTS = {
  retry_id: EXAMPLE_ID,
  attempt_count: 2,
  attempts: [
    {
      number: 1,
      started_at: '2026-11-20T12:00:00.020Z',
      duration_ms: 84,
      outcome: 'http_error',
      status_code: 503,
      retry_after_seconds: 5,
      next_attempt_at: '2026-11-20T12:00:05.104Z',
    },
    {
      number: 2,
      started_at: '2026-11-20T12:00:05.106Z',
      duration_ms: 14,
      outcome: 'success',
      status_code: 201,
      retry_after_seconds: null,
      next_attempt_at: null,
    },
  ],
};

export const EXAMPLE_CALLBACK = {
  retry_id: EXAMPLE_ID,
  status: 'delivered',
  attempt_count: 1,
  last_attempt_at: '2026-11-20T12:00:05.122Z',
  last_status_code: 204,
  next_attempt_at: null,
  delivered_at: '2026-11-20T12:00:05.181Z',
};
