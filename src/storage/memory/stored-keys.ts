/** Keys by id and by digest. */
import type { KeyHolder, KeyRecord } from '../../accounts/accounts.ts';
import { isSameDigest } from '../../base/digest.ts';
import { MINUTE_MS } from '../../base/durations.ts';
import type { KeyUse, StoredKey } from './accounts-journal.ts';

/** Pause between two records of the uses of keys. */
export const USES_PAUSE_MS = MINUTE_MS;
/** Uses of one record, so that no transaction is long. */
export const USE_COUNT_MAX = 1_000;
/** The minute of a use; nothing finer is stored. */
export const minuteOf = (nowMs: number): number => nowMs - (nowMs % MINUTE_MS);

/** Bytes of a digest that serve as its map key; a number holds them exactly. */
const PREFIX_BYTES = 6;
/** Stands for the digest of an unknown key, so that it is compared like any other. */
const NO_DIGEST = new Uint8Array(32);

/** A key in memory. */
export interface HeldKey {
  readonly id: string;
  /** Shared by all requests. */
  readonly holder: KeyHolder;
  readonly digest: Uint8Array;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  lastUsedAtMs: number | null;
  revokedAtMs: number | null;
}

function prefixOf(digest: Uint8Array): number {
  let prefix = 0;
  for (let i = 0; i < PREFIX_BYTES; i++) prefix = prefix * 256 + digest[i]!; // i < its 32 bytes
  return prefix;
}

const recordOf = ({ id, holder, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs }: HeldKey): KeyRecord => ({
  id,
  organization: holder.organization,
  scopes: holder.scopes,
  createdAtMs,
  expiresAtMs,
  lastUsedAtMs,
  revokedAtMs,
});

export class StoredKeys {
  /** In the order of their creation. */
  readonly #byId = new Map<string, HeldKey>();
  readonly #byPrefix = new Map<number, HeldKey>();

  get count(): number {
    return this.#byId.size;
  }

  add({ id, organization, scopes, digest, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs }: StoredKey): void {
    const holder = Object.freeze({ keyId: id, organization, scopes: Object.freeze([...scopes]) });
    const key = { id, holder, digest, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs };
    this.#byId.set(id, key);
    this.#byPrefix.set(prefixOf(digest), key);
  }

  findById(id: string): HeldKey | undefined {
    return this.#byId.get(id);
  }

  /**
   * Finds the key by the first bytes, whose timing says nothing about the rest, and compares the whole digest in constant time.
   */
  findByDigest(digest: Uint8Array): HeldKey | undefined {
    const key = this.#byPrefix.get(prefixOf(digest));
    return isSameDigest(digest, key?.digest ?? NO_DIGEST) ? key : undefined;
  }

  /** Whether a digest has the same map key as another key's. */
  hasLike(digest: Uint8Array): boolean {
    return this.#byPrefix.has(prefixOf(digest));
  }

  list(organization: string | undefined): KeyRecord[] {
    const records: KeyRecord[] = [];
    for (const key of this.#byId.values()) {
      if (organization === undefined || key.holder.organization === organization) records.push(recordOf(key));
    }
    return records;
  }

  /** Notes a use, to the minute. @returns true when it is a later minute than that of the last one */
  noteUse(key: HeldKey, nowMs: number): boolean {
    const minuteMs = minuteOf(nowMs);
    if (key.lastUsedAtMs !== null && key.lastUsedAtMs >= minuteMs) return false;
    key.lastUsedAtMs = minuteMs;
    return true;
  }

  /** The last uses of these keys. */
  usesOf(ids: readonly string[]): KeyUse[] {
    return ids.flatMap((id) => {
      const atMs = this.#byId.get(id)?.lastUsedAtMs ?? null;
      return atMs === null ? [] : [{ id, atMs }];
    });
  }
}
