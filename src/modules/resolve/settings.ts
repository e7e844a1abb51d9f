/** The settings of the Resolve API. */
import { webAddress } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';

export const RESOLVE_SETTINGS = {
  resolveUrl: setting({
    variable: 'RESOLVE_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'BASE_URL/resolve',
    help: 'public address of the Resolve API',
    detail:
      'The API always answers below the path `/resolve` of the base. If the address has another host, it answers on that host too, at the path of the address.',
  }),
};
