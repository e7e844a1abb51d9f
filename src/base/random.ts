/** Randomness as a port: identifiers come from a CSPRNG, and tests pass their own. */
export interface Random {
  /** `count` fresh random bytes. */
  bytes(count: number): Uint8Array;
  /** A version 4 UUID (RFC 9562). */
  uuid(): string;
}

/** A number, evenly from 0 (included) to 1 (excluded). */
export function drawFrom(random: Random): number {
  const bytes = random.bytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) / 2 ** 32;
}

export const systemRandom: Random = {
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  uuid: () => crypto.randomUUID(),
};
