/** Settings for reaching boards, from the environment or from flags of the same names, which win. */
import { HOUR_MS } from '../../base/durations.ts';
import { readSettings } from '../../config/config.ts';
import { InvalidSettingError, setting, type ValuesOf } from '../../config/setting.ts';
import { OUTBOUND_SETTINGS } from '../../config/settings.ts';
import { type BoardOrigins, parseBoardOrigins } from '../../ingest/boards/origins.ts';
import { type Options, UsageError } from '../command.ts';
import type { Io } from '../io.ts';

const { contact, targetAllow } = OUTBOUND_SETTINGS;

const boardEndpoints = setting<BoardOrigins>({
  variable: 'BOARD_ENDPOINTS',
  parse(text) {
    const parsed = parseBoardOrigins(text);
    if (!parsed.ok) throw new InvalidSettingError(parsed.reason);
    return parsed.origins;
  },
  default: '',
  shownDefault: 'none',
  help: 'origins in place of the boards’ own, shape=origin, comma-separated, for mirrors and tests',
});

const SETTINGS = { contact, targetAllow, boardEndpoints };

export interface ReachSettings extends ValuesOf<typeof SETTINGS> {
  /** Between two requests to one host, milliseconds. */
  readonly pauseMs: number;
}

export const REACH_OPTIONS = {
  'host-pause-ms': {
    type: 'integer',
    value: 'N',
    min: 0,
    max: HOUR_MS,
    default: 1000,
    help: 'milliseconds between two requests to one host',
  },
  contact: { type: 'text', value: 'CONTACT', help: contact.help },
  'target-allow': {
    type: 'text',
    value: 'TARGET_ALLOW',
    help: 'addresses that may be asked although they are not public',
  },
  'board-endpoints': { type: 'text', value: 'BOARD_ENDPOINTS', help: boardEndpoints.help },
} as const satisfies Options;

export const REACH_NOTE =
  'The environment sets CONTACT (named in the User-Agent), TARGET_ALLOW and BOARD_ENDPOINTS as the flags do.';

/** @param flags with those of {@link REACH_OPTIONS} @throws UsageError */
export function reachSettings(flags: Readonly<Record<string, unknown>>, env: Io['env']): ReachSettings {
  const given = Object.values(SETTINGS).map(
    ({ flag, variable }) => [variable, (flags[flag] as string | undefined) ?? env[variable]] as const,
  );
  const read = readSettings([SETTINGS], Object.fromEntries(given));
  if (!read.ok) throw new UsageError(read.faults[0]);
  return { ...read.values, pauseMs: flags['host-pause-ms'] as number };
}
