/**
 * The record of a used authorization, 27 or 59 bytes:
 *
 *   0  u32  checksum of all that follows, and of the serial as u48 before it
 *   4  u8   1 settled, 2 dead
 *   5  u48  validBefore, seconds
 *  11  16   key
 *  27  32   transaction hash, absent when none is known
 */
import { crc32 } from '../../../base/crc32.ts';
import type { ReservationKey } from '../../../payment/protocol/order.ts';
import type { UsedAuthorization } from '../../memory/used-authorizations.ts';
import { DamagedError } from '../checksum.ts';

const SETTLED = 1;
const DEAD = 2;
const KEY_AT = 11;
const HASH_AT = 27;
const RECORD_BYTES_MAX = 59;

const serialBytes = Buffer.alloc(6);

function checksumOf(serial: number, record: Buffer): number {
  serialBytes.writeUIntBE(serial, 0, 6);
  return crc32(record.subarray(4), crc32(serialBytes));
}

export function endRecord(serial: number, end: UsedAuthorization): Buffer {
  const hasHash = end.transaction !== '';
  const record = Buffer.alloc(hasHash ? RECORD_BYTES_MAX : HASH_AT);
  record[4] = end.kind === 'settled' ? SETTLED : DEAD;
  record.writeUIntBE(end.validBeforeSeconds, 5, 6);
  record.write(end.key, KEY_AT, 16, 'latin1');
  if (hasHash) record.write(end.transaction.slice(2), HASH_AT, 32, 'hex');
  record.writeUInt32BE(checksumOf(serial, record), 0);
  return record;
}

const hashText = Buffer.from(`0x${'0'.repeat(64)}`, 'latin1');

/** @throws DamagedError */
export function endOfRecord(serial: number, bytes: Uint8Array): UsedAuthorization {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (record.length !== HASH_AT && record.length !== RECORD_BYTES_MAX) throw new DamagedError(`payment ${serial}`);
  if (record.readUInt32BE(0) !== checksumOf(serial, record)) throw new DamagedError(`payment ${serial}`);
  let transaction = '';
  if (record.length === RECORD_BYTES_MAX) {
    // Through a buffer, so that a million hashes are flat strings rather than concatenations.
    hashText.write(record.toString('hex', HASH_AT), 2, 'latin1');
    transaction = hashText.toString('latin1');
  }
  return {
    kind: record[4] === SETTLED ? 'settled' : 'dead',
    key: record.toString('latin1', KEY_AT, HASH_AT) as ReservationKey,
    validBeforeSeconds: record.readUIntBE(5, 6),
    transaction,
  };
}
