/** The settings of the Retry API. */
import { surfaceAddress } from '../surface-address.ts';

export const RETRY_SETTINGS = { retryUrl: surfaceAddress('RETRY_URL', 'Retry API', '/retry') };
