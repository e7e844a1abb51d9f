/** How this runtime handles bodies and responses, as the app's ports of the same names describe it. */
import { fetchResponses, type MadeResponse, PLAIN_RESPONSES, type ResponseForm } from '../../http/response-form.ts';

const isBun = 'Bun' in globalThis;
const responses = fetchResponses(isBun);

/** For an app whose requests and responses are Fetch objects. */
export const RUNTIME_BODIES = { responses, buffersBodies: isBun };

const listenerResponses: ResponseForm<MadeResponse> = isBun ? responses : PLAIN_RESPONSES;

/** For an app behind the listener of this runtime, which takes responses in this form only. */
export const LISTENER_BODIES = { responses: listenerResponses, buffersBodies: isBun };
