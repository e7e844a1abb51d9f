/** CRC-32 (ISO 3309) by the runtime. Bun has it without node:zlib, whose loading takes a tenth of a start. */
import { crc32 as crc32OfZlib } from 'node:zlib';

type Crc32 = (data: string | Uint8Array, checksum?: number) => number;

const { Bun } = globalThis as { readonly Bun?: { readonly hash: { readonly crc32: Crc32 } } };

/** The CRC of bytes, or of a text as UTF-8. @param checksum of the preceding bytes, to continue from */
export const crc32: Crc32 = Bun === undefined ? (data, checksum) => crc32OfZlib(data, checksum) : Bun.hash.crc32;
