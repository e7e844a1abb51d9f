/** The settings of the example: a table that `src/app/configuration.ts` would list, and so in a file that loads no module. */
import { notBlank, webAddress } from '../../src/config/parsers.ts';
import { setting } from '../../src/config/setting.ts';

export const EXAMPLE_SETTINGS = {
  exampleUrl: setting({
    variable: 'EXAMPLE_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'BASE_URL/example',
    help: 'public address of the example',
  }),
  exampleKeys: setting({
    variable: 'EXAMPLE_KEYS',
    parse: notBlank,
    default: null,
    help: 'demo keys and accounts, `key=account`, comma-separated',
    isSecret: true,
  }),
};
