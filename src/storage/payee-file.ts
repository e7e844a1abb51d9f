/**
 * The throwaway recipient of the play ledger (decisions §2, `PAY_TO`). The first start writes it to the state folder, so that
 * offers stay the same after a restart. The address is twenty random bytes without a known key; a server with
 * SETTLEMENT=local sends nothing to it.
 */
import { join } from 'node:path';
import type { Random } from '../base/random.ts';
import { type Address, checksummed, parseAddress } from '../payment/protocol/network.ts';
import { keptFile, readIfThere } from './kept-file.ts';
import { StateError } from './state-error.ts';

/** In the state folder. */
export const PAYEE_FILE = 'pay-to';

export const freshPayee = (random: Random): Address =>
  checksummed(`0x${Buffer.from(random.bytes(20)).toString('hex')}`);

/** @throws StateError when `text`, the file's, is no address */
function payeeOf(stateDir: string, text: string): Address {
  const payee = parseAddress(text);
  if (payee !== undefined) return payee;
  throw new StateError(`${join(stateDir, PAYEE_FILE)} holds no address; remove it or set PAY_TO`);
}

/**
 * @param stateDir folder of the file, made when missing; null writes no file
 * @throws StateError when the folder cannot be used or the file holds no address
 */
export function throwawayPayee(stateDir: string | null, random: Random): Address {
  if (stateDir === null) return freshPayee(random);
  return payeeOf(
    stateDir,
    keptFile(stateDir, PAYEE_FILE, () => freshPayee(random)),
  );
}

/** The recipient stored in a folder, if there is one. @throws StateError when the file holds no address */
export function foundPayee(stateDir: string): Address | undefined {
  const text = readIfThere(join(stateDir, PAYEE_FILE));
  return text === undefined ? undefined : payeeOf(stateDir, text.trim());
}
