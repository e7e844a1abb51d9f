/** The settings of the Jobs Data API. */
import { webAddress } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';

export const DATA_SETTINGS = {
  dataUrl: setting({
    variable: 'DATA_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'BASE_URL/data',
    help: 'public address of the Jobs Data API',
    detail:
      'The API always answers below the path `/data` of the base. If the address has another host, it answers on that host too, at the path of the address.',
  }),
};
