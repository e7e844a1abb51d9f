/**
 * The throwaway recipient of the play ledger (decisions §2, `PAY_TO`). The first start writes it to the state folder, so that
 * offers stay the same after a restart. The address is twenty random bytes without a known key; a server with
 * SETTLEMENT=local sends nothing to it.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../base/failure.ts';
import type { Random } from '../base/random.ts';
import { type Address, checksummed, parseAddress } from '../payment/protocol/network.ts';
import { folderFaultOf } from './folder-fault.ts';
import { makeFolder } from './make-folder.ts';
import { StateError } from './state-error.ts';

const FILE = 'pay-to';

const freshAddress = (random: Random): Address => checksummed(`0x${Buffer.from(random.bytes(20)).toString('hex')}`);

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (failure) {
    if (errorCodeOf(failure) === 'ENOENT') return undefined;
    throw failure;
  }
}

/**
 * @param stateDir folder of the file, made when missing; null writes no file
 * @throws StateError when the folder cannot be used or the file holds no address
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
      // Writes another name and renames it, so that a process that dies here leaves no partial file for the next start.
      const temporary = `${path}.tmp`;
      writeFileSync(temporary, `${text}\n`, { mode: 0o600, flush: true });
      renameSync(temporary, path);
    }
  } catch (failure) {
    throw new StateError(`STATE_DIR ${stateDir} cannot be used: ${folderFaultOf(stateDir, failure)}`);
  }
  const kept = parseAddress(text.trim());
  if (kept === undefined) throw new StateError(`${path} holds no address; remove it or set PAY_TO`);
  return kept;
}
