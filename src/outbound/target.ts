/**
 * Where the server may send a request of a stranger's choosing (siblings §5), as far as the address alone decides: scheme,
 * port, user info, length, reserved names, addresses written as literals, this server's own addresses.
 */

/** What goes out. `retry` and `delivery` are https only; targets of `TARGET_ALLOW` and own webhook addresses may be http. */
export type Purpose = 'retry' | 'resolve' | 'delivery';

/** An address that was judged without a look-up. */
export interface Target {
  /** Normalized as `URL` does it. */
  readonly url: URL;
  /** A webhook address of this server: it is delivered inside the process. */
  readonly isOwnHook: boolean;
}

/** `reason`: one line, safe to show to a customer. */
export type Judged = { readonly ok: true; readonly target: Target } | { readonly ok: false; readonly reason: string };

export interface TargetPolicy {
  judge(url: string, purpose: Purpose): Judged;
}
