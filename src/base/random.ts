/** Randomness as a port: identifiers come from a CSPRNG, and tests pass their own. */
export interface Random {
  /** `count` fresh random bytes. */
  bytes(count: number): Uint8Array;
  /** A version 4 UUID (RFC 9562). */
  uuid(): string;
}

export const systemRandom: Random = {
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  uuid: () => crypto.randomUUID(),
};
