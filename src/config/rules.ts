/** What must hold between settings of the server, beyond `requiredWhen`. */
import { ENGINE_SETTINGS } from './engine-settings.ts';
import type { SettingsRule } from './setting.ts';
import { CATALOGUE_SETTINGS, NO_CATALOGUE, PAYMENT_SETTINGS, SERVER_SETTINGS, STATE_SETTINGS } from './settings.ts';

const { surfaces } = SERVER_SETTINGS;
const { snapshot } = CATALOGUE_SETTINGS;
const { engineUrl, engineToken } = ENGINE_SETTINGS;
const { databaseUrl, stateKey } = STATE_SETTINGS;
const { settlement } = PAYMENT_SETTINGS;

/** Between gates and jobs services (siblings §8), and between processes that share a database (siblings §9). */
export const SERVER_RULES: readonly SettingsRule[] = [
  (read) =>
    read(engineUrl) !== null && read(engineToken) === null
      ? 'ENGINE_TOKEN is required with ENGINE_URL: the token that the jobs services have'
      : undefined,
  (read) =>
    read(engineUrl) !== null && read(snapshot) !== NO_CATALOGUE
      ? 'SNAPSHOT must be none with ENGINE_URL: the jobs services hold the catalogue'
      : undefined,
  (read, isGiven) =>
    read(engineUrl) === null &&
    read(engineToken) !== null &&
    read(snapshot) !== NO_CATALOGUE &&
    read(settlement) === 'local' &&
    !isGiven(surfaces)
      ? 'SURFACES must be set with ENGINE_TOKEN, a catalogue and SETTLEMENT=local: `none` for a jobs service, or what it may sell for play money'
      : undefined,
  (read) =>
    read(databaseUrl) !== null && read(stateKey) === null
      ? 'STATE_KEY is required with DATABASE_URL, the same for all processes; `openssl rand -base64 32` makes one'
      : undefined,
];
