/** The settings of the Jobs Data API. */
import { surfaceAddress } from '../surface-address.ts';

export const DATA_SETTINGS = { dataUrl: surfaceAddress('DATA_URL', 'Jobs Data API', '/data') };
