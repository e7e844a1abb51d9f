/** The settings of the Resolve API. */
import { surfaceAddress } from '../surface-address.ts';

export const RESOLVE_SETTINGS = { resolveUrl: surfaceAddress('RESOLVE_URL', 'Resolve API', '/resolve') };
