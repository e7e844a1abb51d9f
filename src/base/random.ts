/** Randomness as a port: identifiers come from a CSPRNG, and tests pass their own. */
export interface Random {
  /** `count` fresh random bytes. */
  bytes(count: number): Uint8Array;
  /** A version 4 UUID (RFC 9562). */
  uuid(): string;
}

/** A uniform number from 0 (included) to 1 (excluded). */
export function drawFrom(random: Random): number {
  const bytes = random.bytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 2 ** 32;
}

/** Bytes drawn by one system call. A call costs about as much as most work that needs the bytes, however few. */
const POOL_BYTES = 4096;
/** Larger draws bypass the pool. */
const POOLED_BYTES_MAX = 64;

let pool = new Uint8Array(0);
let drawnCount = 0;

/** Each byte of the pool is handed out once, then erased. */
function pooledBytes(count: number): Uint8Array {
  if (count > POOLED_BYTES_MAX) return crypto.getRandomValues(new Uint8Array(count));
  if (drawnCount + count > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    drawnCount = 0;
  }
  const bytes = pool.slice(drawnCount, drawnCount + count);
  pool.fill(0, drawnCount, drawnCount + count);
  drawnCount += count;
  return bytes;
}

export const systemRandom: Random = {
  bytes: pooledBytes,
  uuid: () => crypto.randomUUID(),
};
