/** The callback and the event of the contract's examples. */
import { EVENT_COUNT_MAX, PAYLOAD_BYTES_MAX } from '../../callback/limits.ts';

export const EXAMPLE_CALLBACK_ID = 'cb_k3J9sQ2mXv7Lr0TzWb5Nd8Ha';
export const EXAMPLE_EVENT_ID = 'evt_5f2c9a0e7b314d68a1c3e5f708192a3b';

const API_URL = 'https://api.example.com';
const HOOK_URL = 'https://hooks.example.com';
const EXPIRES_AT = '2026-11-20T12:10:00.000Z';
const BODY = '{"type":"build.finished","ok":true}';

export const EXAMPLE_CALLBACK = {
  id: EXAMPLE_CALLBACK_ID,
  callback_url: `${HOOK_URL}/hooks/${EXAMPLE_CALLBACK_ID}`,
  events_url: `${API_URL}/v1/callbacks/${EXAMPLE_CALLBACK_ID}/events`,
  wait_url: `${API_URL}/v1/callbacks/${EXAMPLE_CALLBACK_ID}/wait`,
  read_token: `svc_cb_sk_${'Example'.repeat(7).slice(0, 43)}`,
  expires_at: EXPIRES_AT,
  limits: { events: EVENT_COUNT_MAX, payload_bytes: PAYLOAD_BYTES_MAX },
};

export const EXAMPLE_EVENT = {
  id: EXAMPLE_EVENT_ID,
  received_at: '2026-11-20T12:03:07Z',
  method: 'POST',
  content_type: 'application/json',
  headers: { 'user-agent': 'build-bot/1.0' },
  body: JSON.parse(BODY) as unknown,
  size_bytes: BODY.length,
};

export const EXAMPLE_LISTING = {
  callback_id: EXAMPLE_CALLBACK_ID,
  status: 'active',
  expires_at: EXPIRES_AT,
  event_count: 1,
  events: [EXAMPLE_EVENT],
};
