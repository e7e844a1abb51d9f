/** Webhooks of a load test: the request, and the event id in its answer. */
import { EVENT_ID_FORM } from '../callback/identifier.ts';
import type { Answer } from './connection.ts';
import { jsonOf, type Requests } from './requests.ts';

/** The id of the stored event, or undefined for an answer that names none. */
export function eventIdOf(answer: Answer): string | undefined {
  const { received, event_id } = (jsonOf(answer) ?? {}) as { received?: unknown; event_id?: unknown };
  return received === true && EVENT_ID_FORM.test(String(event_id)) ? String(event_id) : undefined;
}

const webhookBody = (sequence: number): string =>
  `{"type":"load.tested","sequence":${sequence},"data":{"object":"job","status":"open","note":"${'x'.repeat(200)}"}}`;

/** @param id of the callback @param sequence makes the body differ from the others */
export const webhookRequest = (requests: Requests, id: string, sequence: number): string =>
  requests.post(`/hooks/${id}`, { 'content-type': 'application/json' }, webhookBody(sequence));
