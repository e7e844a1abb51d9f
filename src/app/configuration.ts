/** The one list of all settings: those of the server as a whole, then those of each module. */
import { defineConfig } from '../config/config.ts';
import { CATALOGUE_SETTINGS, PAYMENT_SETTINGS, SERVER_SETTINGS, STATE_SETTINGS } from '../config/settings.ts';
import { CALLBACK_SETTINGS } from '../modules/callbacks/settings.ts';
import { JOBS_SETTINGS } from '../modules/jobs/settings.ts';

/** In the order of `--help` and of `docs/configuration.md`. */
export const CONFIGURATION = defineConfig([
  { owner: 'Server', settings: SERVER_SETTINGS },
  { owner: 'Catalogue', settings: CATALOGUE_SETTINGS },
  { owner: 'State', settings: STATE_SETTINGS },
  { owner: 'Payments', settings: PAYMENT_SETTINGS },
  { owner: 'Jobs', settings: JOBS_SETTINGS },
  { owner: 'Callbacks', settings: CALLBACK_SETTINGS },
]);

/** The settings as the server uses them: option name to value. */
export type Config = ReturnType<typeof CONFIGURATION.read>;

/** The settings as `createPaygrade` takes them. */
export type ConfigOptions = Parameters<typeof CONFIGURATION.fromOptions>[0];
