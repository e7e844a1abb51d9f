/** Options that `watch` and `up` share, and the bounds of visits from them. */
import { MINUTE_MS } from '../../base/durations.ts';
import type { VisitBounds } from '../../ingest/watch/schedule.ts';
import { type Options, type OptionValues, UsageError } from '../command.ts';
import type { HistoryBuildPlan } from '../snapshot/build-from-history.ts';
import { MAX_AGE_DAYS } from '../snapshot/left-out.ts';
import { REACH_OPTIONS } from './watch-settings.ts';

/** A board is fetched at least once a month, and at most once a minute. */
const EVERY_MINUTES_MAX = 31 * 24 * 60;

export const WATCH_OPTIONS = {
  'every-min': { type: 'text', value: 'TIME', default: '1h', help: 'shortest time between two fetches of a board' },
  'every-max': { type: 'text', value: 'TIME', default: '24h', help: 'longest time between two fetches of a board' },
  'max-age-days': {
    type: 'integer',
    value: 'N',
    min: 1,
    max: MAX_AGE_DAYS,
    help: 'as for snapshot build: leave out active jobs that were last observed more than N days ago',
  },
  'merge-same-url': { type: 'flag', help: 'as for snapshot build: of active jobs with one address keep the latest' },
  'no-descriptions': { type: 'flag', help: 'as for snapshot build: leave the descriptions out' },
  ...REACH_OPTIONS,
} as const satisfies Options;

type WatchValues = OptionValues<typeof WATCH_OPTIONS>;

/** `90`, `90m`, `6h` or `2d` as minutes. @throws UsageError */
function minutesOf(name: string, text: string): number {
  const [, digits, unit] = /^([1-9][0-9]{0,5})([mhd]?)$/.exec(text) ?? [];
  const minutes = Number(digits) * { '': 1, m: 1, h: 60, d: 1440 }[unit as '' | 'm' | 'h' | 'd'];
  if (digits !== undefined && minutes <= EVERY_MINUTES_MAX) return minutes;
  throw new UsageError(
    `--${name} must be a time such as 90m, 6h or 2d, from a minute to a month, not ${JSON.stringify(text)}`,
  );
}

/** @throws UsageError */
export function watchBounds(options: Pick<WatchValues, 'every-min' | 'every-max'>): VisitBounds {
  const minMs = minutesOf('every-min', options['every-min']) * MINUTE_MS;
  const maxMs = minutesOf('every-max', options['every-max']) * MINUTE_MS;
  if (minMs > maxMs) throw new UsageError('--every-min is longer than --every-max');
  return { minMs, maxMs };
}

/** The options for a build of the snapshot. */
export const buildOptions = (
  options: Pick<WatchValues, 'max-age-days' | 'merge-same-url' | 'no-descriptions'>,
): Pick<HistoryBuildPlan, 'maxAgeDays' | 'mergesSameUrl' | 'keepsDescriptions'> => ({
  maxAgeDays: options['max-age-days'],
  mergesSameUrl: options['merge-same-url'],
  keepsDescriptions: !options['no-descriptions'],
});
