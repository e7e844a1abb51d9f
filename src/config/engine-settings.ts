/** The settings of the split between gates and jobs services (siblings §8). */
import { secretText, webAddressList, wholeNumber } from './parsers.ts';
import { setting } from './setting.ts';

/** Jobs services of one gate. */
const ENGINE_ADDRESS_COUNT_MAX = 32;

export const ENGINE_SETTINGS = {
  engineUrl: setting({
    variable: 'ENGINE_URL',
    parse: webAddressList(ENGINE_ADDRESS_COUNT_MAX),
    default: null,
    help: 'addresses of jobs services, comma-separated: this process sells, holds no catalogue, and asks them',
    detail: 'It asks them in turn and skips one that it cannot reach; see scaling.md.',
  }),
  engineToken: setting({
    variable: 'ENGINE_TOKEN',
    parse: secretText,
    default: null,
    help: 'token, at least 32 characters, between gates and jobs services',
    detail: 'With a catalogue it opens `/internal/v1/*` to gates, which ask there without payment.',
    isSecret: true,
  }),
  engineTimeoutMs: setting({
    variable: 'ENGINE_TIMEOUT_MS',
    parse: wholeNumber(1, 60_000),
    default: '5000',
    help: 'milliseconds that an answer of the jobs services may take, all addresses together',
  }),
};
