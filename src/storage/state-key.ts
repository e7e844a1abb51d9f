/**
 * The secret key of a state (siblings §9, `STATE_KEY`): it authenticates cursors and encrypts the contents of requests.
 * The first start writes it to the state folder, so that cursors stay valid after a restart.
 */
import { join } from 'node:path';
import { base64Bytes } from '../base/codec.ts';
import type { Random } from '../base/random.ts';
import { keptFile, readIfThere } from './kept-file.ts';
import { StateError } from './state-error.ts';

/** In the state folder. */
export const STATE_KEY_FILE = 'state-key';
const STATE_KEY_BYTES = 32;

/** @throws StateError when `text`, the file's, is no key */
function keyOf(stateDir: string, text: string): Uint8Array {
  const key = base64Bytes(text, STATE_KEY_BYTES);
  if (key !== undefined) return key;
  throw new StateError(
    `${join(stateDir, STATE_KEY_FILE)} holds no key of ${STATE_KEY_BYTES} bytes as base64; set STATE_KEY, or remove it`,
  );
}

/**
 * @param stateDir folder of the file, made when missing; null writes no file
 * @throws StateError when the folder cannot be used or the file holds no key
 */
export function keptStateKey(stateDir: string | null, random: Random): Uint8Array {
  if (stateDir === null) return random.bytes(STATE_KEY_BYTES);
  const text = keptFile(stateDir, STATE_KEY_FILE, () => Buffer.from(random.bytes(STATE_KEY_BYTES)).toString('base64'));
  return keyOf(stateDir, text);
}

/** The key stored in a folder, if there is one. @throws StateError when the file holds no key */
export function foundStateKey(stateDir: string): Uint8Array | undefined {
  const text = readIfThere(join(stateDir, STATE_KEY_FILE));
  return text === undefined ? undefined : keyOf(stateDir, text.trim());
}
