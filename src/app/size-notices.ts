/** Notices about sizes in bytes with which a server starts but sells nothing, such as 512 where MiB were meant. */
import { MIB } from '../base/sizes.ts';
import { CLAIM_BYTES } from '../callback/limits.ts';
import type { Config } from './configuration.ts';

/** Less than any start takes: Bun takes twice this without a catalogue, Node more. */
const MEMORY_BYTES_MIN = 32 * MIB;

/** One line each, which names the variable. */
export function sizeNotices({ memoryLimitBytes, shedding, callbackBytes, surfaces }: Config): readonly string[] {
  const notices: string[] = [];
  if (shedding && memoryLimitBytes !== null && memoryLimitBytes < MEMORY_BYTES_MIN) {
    notices.push(
      `MEMORY_LIMIT_BYTES=${memoryLimitBytes} is less than the server takes at its start, so it refuses all paid work: the unit is bytes`,
    );
  }
  if (callbackBytes < CLAIM_BYTES && surfaces.includes('callbacks')) {
    notices.push(
      `CALLBACK_BYTES=${callbackBytes} has room for no callback, which claims ${CLAIM_BYTES}, so none can be bought: the unit is bytes`,
    );
  }
  return notices;
}
