/** The settings of the jobs module. */
import { wholeNumber } from '../../config/parsers.ts';
import { setting } from '../../config/setting.ts';

export const JOBS_SETTINGS = {
  rateLimitPerMinute: setting({
    variable: 'RATE_LIMIT_PER_MINUTE',
    parse: wholeNumber(0, 100_000),
    default: '600',
    help: 'jobs requests that a client address may make in any minute; 0 turns the limit off',
    detail: 'Counts requests that passed validation, in a sliding minute.',
  }),
};
