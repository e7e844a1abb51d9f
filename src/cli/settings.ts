/** One flag a setting; a flag wins over the environment variable of the same setting. */
import { CONFIGURATION } from '../app/configuration.ts';
import type { TextOption } from './command.ts';
import type { Io } from './io.ts';

export const SETTING_OPTIONS: Readonly<Record<string, TextOption>> = Object.fromEntries(
  CONFIGURATION.settings.map(({ flag, variable, help, shownDefault }) => [
    flag,
    { type: 'text', value: variable, help: `${help} (default ${shownDefault})` } satisfies TextOption,
  ]),
);

/** Variable names to the text given for them, not yet parsed. */
export function settingsIn(
  flags: Readonly<Record<string, unknown>>,
  env: Io['env'],
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    CONFIGURATION.settings.map(({ flag, variable }) => [
      variable,
      (flags[flag] as string | undefined) ?? env[variable],
    ]),
  );
}
