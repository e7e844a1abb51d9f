/** The settings of the Retry API. */
import { webAddress } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';

export const RETRY_SETTINGS = {
  retryUrl: setting({
    variable: 'RETRY_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'BASE_URL/retry',
    help: 'public address of the Retry API',
    detail:
      'The API always answers below the path `/retry` of the base. If the address has another host, it answers on that host too, at the path of the address.',
  }),
};
