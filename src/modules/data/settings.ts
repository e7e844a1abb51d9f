/** The settings of the Jobs Data API. */
import { webAddress, wholeNumber } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';

export const DATA_SETTINGS = {
  dataUrl: setting({
    variable: 'DATA_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'BASE_URL/data',
    help: 'public address of the Jobs Data API',
    detail:
      'The API always answers below the path `/data` of the base. An address with another host answers on that host too, at the path of the address.',
  }),
  keyRateLimitPerMinute: setting({
    variable: 'KEY_RATE_LIMIT_PER_MINUTE',
    parse: wholeNumber(0, 1_000_000),
    default: '600',
    help: 'requests that one API key may make in any minute; 0 turns the limit off',
    detail: 'Counts requests with a valid key and valid input, in a sliding minute.',
  }),
};
