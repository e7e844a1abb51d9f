/**
 * The throwaway recipient of the play ledger (decisions §2, `PAY_TO`): made once and kept in the state folder, so that offers
 * are the same after a restart. It is twenty random bytes: nobody has its key, and with `local` nothing is sent to it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../base/random.ts';
import { type Address, checksummed, parseAddress } from '../../payment/protocol/network.ts';
import { makeFolder } from './make-folder.ts';

const FILE = 'pay-to';

const freshAddress = (random: Random): Address => checksummed(`0x${Buffer.from(random.bytes(20)).toString('hex')}`);

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (failure) {
    if ((failure as { code?: unknown }).code === 'ENOENT') return undefined;
    throw failure;
  }
}

/**
 * @param stateDir made if it is not there; null keeps nothing
 * @throws Error one line, when the folder cannot be used or the file holds no address
 */
export function throwawayPayee(stateDir: string | null, random: Random): Address {
  if (stateDir === null) return freshAddress(random);
  const path = join(stateDir, FILE);
  let text: string | undefined;
  try {
    makeFolder(stateDir);
    text = readIfThere(path);
    if (text === undefined) {
      text = freshAddress(random);
      // Through another name: a process that is killed here leaves no half of a file, which the next one would refuse.
      const temporary = `${path}.tmp`;
      writeFileSync(temporary, `${text}\n`, { mode: 0o600, flush: true });
      renameSync(temporary, path);
    }
  } catch (failure) {
    throw new Error(`STATE_DIR ${stateDir} cannot be used: ${(failure as Error).message}`);
  }
  const kept = parseAddress(text.trim());
  if (kept === undefined) throw new Error(`${path} holds no address; remove it or set PAY_TO`);
  return kept;
}
