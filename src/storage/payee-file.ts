/**
 * The throwaway recipient of the play ledger (decisions §2, `PAY_TO`). The first start writes it to the state folder, so that
 * offers stay the same after a restart. The address is twenty random bytes without a known key; a server with
 * SETTLEMENT=local sends nothing to it.
 */
import { join } from 'node:path';
import type { Random } from '../base/random.ts';
import { type Address, checksummed, parseAddress } from '../payment/protocol/network.ts';
import { keptFile } from './kept-file.ts';
import { StateError } from './state-error.ts';

const FILE = 'pay-to';

export const freshPayee = (random: Random): Address =>
  checksummed(`0x${Buffer.from(random.bytes(20)).toString('hex')}`);

/**
 * @param stateDir folder of the file, made when missing; null writes no file
 * @throws StateError when the folder cannot be used or the file holds no address
 */
export function throwawayPayee(stateDir: string | null, random: Random): Address {
  if (stateDir === null) return freshPayee(random);
  const kept = parseAddress(keptFile(stateDir, FILE, () => freshPayee(random)));
  if (kept === undefined) throw new StateError(`${join(stateDir, FILE)} holds no address; remove it or set PAY_TO`);
  return kept;
}
