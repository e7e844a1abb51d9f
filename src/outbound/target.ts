/**
 * Where the server may send requests that customers ask for (siblings §5), as far as the address alone decides: scheme, port,
 * user info, length, reserved names, literal addresses, this server's own addresses.
 */

/** Why a request is sent. `retry` and `delivery` are https only, but targets of `TARGET_ALLOW` and own hooks may be http. */
export type Purpose = 'retry' | 'resolve' | 'delivery';

/** An address that was judged without a look-up. */
export interface Target {
  /** Normalized as by `URL`, without a fragment and without the trailing dot of a fully qualified name. */
  readonly url: URL;
  /** A webhook address of this server: it is delivered inside the process. */
  readonly isOwnHook: boolean;
  /**
   * What the host may resolve to: `any` address (TARGET_ALLOW lists host and port); only a `listed` one, in a range of
   * TARGET_ALLOW, because port, scheme or name are not those of a public target; otherwise a public or a listed one.
   */
  readonly mayResolveTo?: 'any' | 'listed';
}

/** A refusal. `reason`: one line, safe to show to a customer. `rule`: the rule that refused, for metrics. */
export interface RefusedTarget {
  readonly ok: false;
  readonly reason: string;
  readonly rule?: string;
}

export type Judged = { readonly ok: true; readonly target: Target } | RefusedTarget;

export interface TargetPolicy {
  /** Cost: a few microseconds; no look-up. */
  judge(url: string, purpose: Purpose): Judged;
}
