/** All settings: those of the whole server, then those of each module. */
import { type Configuration, defineConfig } from '../config/config.ts';
import { ENGINE_SETTINGS } from '../config/engine-settings.ts';
import type { SettingsGroup } from '../config/setting.ts';
import {
  CATALOGUE_SETTINGS,
  ENGINE_RULES,
  OUTBOUND_SETTINGS,
  PAYMENT_SETTINGS,
  SERVER_SETTINGS,
  STATE_SETTINGS,
} from '../config/settings.ts';
import { MODULES } from './modules.ts';

type ModuleSettings = (typeof MODULES)[number]['settings'];

const SHARED = [
  { owner: 'Server', settings: SERVER_SETTINGS },
  { owner: 'Catalogue', settings: CATALOGUE_SETTINGS },
  { owner: 'Jobs services', settings: ENGINE_SETTINGS },
  { owner: 'State', settings: STATE_SETTINGS },
  { owner: 'Payments', settings: PAYMENT_SETTINGS },
  { owner: 'Outbound requests', settings: OUTBOUND_SETTINGS },
] as const satisfies readonly SettingsGroup[];

const groupOf = <S>({ tag, settings }: { readonly tag: string; readonly settings: S }) => ({
  owner: `${tag.charAt(0).toUpperCase()}${tag.slice(1)}`,
  settings,
});

/** In the order of `--help` and of `docs/configuration.md`. */
export const CONFIGURATION: Configuration<(typeof SHARED)[number]['settings'] | ModuleSettings> = defineConfig(
  [
    ...SHARED,
    ...MODULES.filter(({ settings }) => Object.keys(settings).length > 0).map((module) =>
      groupOf<ModuleSettings>(module),
    ),
  ],
  ENGINE_RULES,
);

/** The values of all settings, by option name. */
export type Config = ReturnType<typeof CONFIGURATION.read>;

/** The settings as `createPaygrade` accepts them. */
export type ConfigOptions = Parameters<typeof CONFIGURATION.fromOptions>[0];
