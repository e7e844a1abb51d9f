/** CRC-32 (ISO 3309) by the runtime. Bun has it without node:zlib, which takes as long to load as a tenth of a start. */
import { crc32 as crc32OfZlib } from 'node:zlib';

type Crc32 = (data: string | Uint8Array, checksum?: number) => number;

const { Bun } = globalThis as { readonly Bun?: { readonly hash: { readonly crc32: Crc32 } } };

/** Of bytes, or of a text as UTF-8. @param checksum that of the bytes before them, to continue it */
export const crc32: Crc32 = Bun === undefined ? (data, checksum) => crc32OfZlib(data, checksum) : Bun.hash.crc32;
