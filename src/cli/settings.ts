/** The operator's variables as flags: one of the same meaning each, which wins over the environment. */
import { VARIABLES } from '../config/config.ts';
import type { TextOption } from './command.ts';
import type { Io } from './io.ts';

const flagOf = (name: string): string => name.toLowerCase().replaceAll('_', '-');

export const SETTING_OPTIONS: Readonly<Record<string, TextOption>> = Object.fromEntries(
  VARIABLES.map(({ name, help, shownDefault }) => [
    flagOf(name),
    { type: 'text', value: name, help: `${help} (default ${shownDefault})` } satisfies TextOption,
  ]),
);

/** Variable names to what was given for them, not yet judged. */
export function settingsIn(
  flags: Readonly<Record<string, unknown>>,
  env: Io['env'],
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    VARIABLES.map(({ name }) => [name, (flags[flagOf(name)] as string | undefined) ?? env[name]]),
  );
}
