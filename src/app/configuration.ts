/** All settings: those of the whole server, then those of each module. Reading them loads no module. */
import { type Configuration, defineConfig } from '../config/config.ts';
import { ENGINE_SETTINGS } from '../config/engine-settings.ts';
import { SERVER_RULES } from '../config/rules.ts';
import type { SettingsGroup } from '../config/setting.ts';
import {
  CATALOGUE_SETTINGS,
  OUTBOUND_SETTINGS,
  originOf,
  PAYMENT_SETTINGS,
  SERVER_SETTINGS,
  STATE_SETTINGS,
} from '../config/settings.ts';
import { CALLBACK_SETTINGS } from '../modules/callbacks/settings.ts';
import { DATA_SETTINGS } from '../modules/data/settings.ts';
import { RESOLVE_SETTINGS } from '../modules/resolve/settings.ts';
import { RETRY_SETTINGS } from '../modules/retry/settings.ts';

/** In the order of `--help` and of `docs/configuration.md`. */
const GROUPS = [
  { owner: 'Server', settings: SERVER_SETTINGS },
  { owner: 'Catalogue', settings: CATALOGUE_SETTINGS },
  { owner: 'Jobs services', settings: ENGINE_SETTINGS },
  { owner: 'State', settings: STATE_SETTINGS },
  { owner: 'Payments', settings: PAYMENT_SETTINGS },
  { owner: 'Outbound requests', settings: OUTBOUND_SETTINGS },
  { owner: 'Callbacks', settings: CALLBACK_SETTINGS },
  { owner: 'Data', settings: DATA_SETTINGS },
  { owner: 'Retry', settings: RETRY_SETTINGS },
  { owner: 'Resolve', settings: RESOLVE_SETTINGS },
] as const satisfies readonly SettingsGroup[];

export const CONFIGURATION: Configuration<(typeof GROUPS)[number]['settings']> = defineConfig(GROUPS, SERVER_RULES);

/** The values of all settings, by option name. */
export type Config = ReturnType<typeof CONFIGURATION.read>;

/** The public addresses, without a trailing slash; where a setting names none, the address of the listener. */
export function publicAddressesOf({ host, baseUrl, hookBaseUrl }: Config, port: number) {
  const address = originOf(host, port);
  return { baseUrl: baseUrl ?? address, hookBaseUrl: hookBaseUrl ?? address };
}

/** The settings as `createPaygrade` accepts them. */
export type ConfigOptions = Parameters<typeof CONFIGURATION.fromOptions>[0];
