/** The settings of the callbacks module. */
import { webAddress, wholeNumber } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';
import { IN_MEMORY, STATE_SETTINGS } from '../../config/settings.ts';

const BYTES_ON_DISK = '21474836480';
const BYTES_IN_MEMORY = '1073741824';

export const CALLBACK_SETTINGS = {
  hookBaseUrl: setting({
    variable: 'HOOK_BASE_URL',
    parse: webAddress,
    default: null,
    shownDefault: 'http://HOST:PORT',
    help: 'public address of the webhook host; every webhook URL starts with it',
    detail:
      'It does not follow `BASE_URL`: set both. They may be the same. If it has a path, the proxy must remove it from requests.',
  }),
  callbackLimitPerMinute: setting({
    variable: 'CALLBACK_LIMIT_PER_MINUTE',
    parse: wholeNumber(0, 100_000),
    default: '600',
    help: 'callbacks that a client address may ask to create in any minute; 0 is off',
    detail: 'Counts creations whose body passed validation, paid or not, in a sliding minute.',
  }),
  callbackBytes: setting({
    variable: 'CALLBACK_BYTES',
    parse: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    default: (read) => (read(STATE_SETTINGS.stateDir) === IN_MEMORY ? BYTES_IN_MEMORY : BYTES_ON_DISK),
    shownDefault: `${BYTES_ON_DISK}; with STATE_DIR=${IN_MEMORY} ${BYTES_IN_MEMORY}`,
    help: 'bytes that live callbacks may claim together',
    detail:
      'A callback claims its full capacity when it is created. When no capacity is left, the server refuses new callbacks before payment.',
  }),
};
