/**
 * Looks names up for outbound requests. `getaddrinfo` (`dns.lookup`) cannot be cancelled, and while a name server is
 * silent it blocks a thread of the runtime's pool, which files use too. So each look-up uses a `dns.Resolver`, which a
 * deadline can cancel. That asks name servers only, so the hosts file is read here and comes first, as it does for the
 * system (`files dns`). Search domains are not applied: names are complete.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { errorCodeOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import { OTHER_FAMILY_MS } from '../../outbound/limits.ts';
import { nodeDns } from '../process/late-modules.ts';

export type Resolved =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** The name has no address, or no name server knew one. `code` is the resolver's. */
  | { readonly kind: 'unknown' | 'timeout'; readonly code: string };

export interface NameResolver {
  /** Never rejects. @param signal ends the look-up at once, as `timeout` */
  resolve(name: string, signal: AbortSignal): Promise<Resolved>;
}

/** Per name server and try, milliseconds. The whole look-up ends with its signal. */
const TRY_MS = 1500;
const TRIES = 2;
const HOSTS_FILE = '/etc/hosts';
/** A hosts file is read again after this, milliseconds. */
const HOSTS_KEPT_MS = 1000;
/** RFC 6761 §6.3, where the hosts file does not have it. */
const LOCALHOST = ['127.0.0.1', '::1'] as const;

/** Names in lower case to addresses, in the order of the file (hosts(5)). */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (address === undefined) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      const addresses = hosts.get(name) ?? [];
      if (!addresses.includes(address)) addresses.push(address);
      hosts.set(name, addresses);
    }
  }
  return hosts;
}

/** The runtime's code for a name that exists but has no address of this family. */
const isNoData = (code: string): boolean => code === 'ENODATA';
const isTimeout = (code: string): boolean => code === 'ETIMEOUT' || code === 'ECANCELLED';

type Family = { readonly addresses: readonly string[] } | { readonly code: string };

const familyOf = (asked: Promise<string[]>): Promise<Family> =>
  asked.then(
    (addresses) => (addresses.length > 0 ? { addresses } : { code: 'ENODATA' }),
    (failure: unknown) => ({ code: errorCodeOf(failure) ?? 'EUNKNOWN' }),
  );

const hasAddresses = (family: Family): family is { readonly addresses: readonly string[] } => 'addresses' in family;

function resolvedOf(families: readonly Family[]): Resolved {
  const addresses = families.flatMap((family) => (hasAddresses(family) ? family.addresses : []));
  if (addresses.length > 0) return { kind: 'addresses', addresses };
  const codes = families.flatMap((family) => (hasAddresses(family) ? [] : [family.code]));
  const code = codes.find((one) => !isNoData(one)) ?? 'ENODATA';
  return { kind: isTimeout(code) ? 'timeout' : 'unknown', code };
}

export interface SystemResolverOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  /** Name servers, `address:port`; the system's when not given. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
}

export class SystemResolver implements NameResolver {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #timers: Timers;
  readonly #servers: readonly string[] | undefined;
  readonly #hostsFile: string;
  #hosts: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  #hostsReadMs = 0;

  constructor({ clock, timers, servers, hostsFile = HOSTS_FILE }: SystemResolverOptions) {
    this.#clock = clock;
    this.#timers = timers;
    this.#servers = servers;
    this.#hostsFile = hostsFile;
  }

  async resolve(name: string, signal: AbortSignal): Promise<Resolved> {
    const hosts = await this.#readHosts();
    const listed = hosts.get(name) ?? (name === 'localhost' ? LOCALHOST : undefined);
    if (listed !== undefined) return { kind: 'addresses', addresses: listed };
    if (signal.aborted) return { kind: 'timeout', code: 'ECANCELLED' };
    return this.#ask(name, signal);
  }

  async #ask(name: string, signal: AbortSignal): Promise<Resolved> {
    const resolver = new (nodeDns().Resolver)({ timeout: TRY_MS, tries: TRIES });
    if (this.#servers !== undefined) resolver.setServers(this.#servers);
    let stopWaiting: (() => void) | undefined;
    const cancel = (): void => resolver.cancel();
    // Cancels the other family some time after one has answered.
    const watch = (family: Family): Family => {
      if (hasAddresses(family)) stopWaiting ??= this.#timers.after(OTHER_FAMILY_MS, cancel);
      return family;
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const asked = [familyOf(resolver.resolve4(name)), familyOf(resolver.resolve6(name))];
      return resolvedOf(await Promise.all(asked.map((family) => family.then(watch))));
    } finally {
      stopWaiting?.();
      signal.removeEventListener('abort', cancel);
    }
  }

  #readHosts(): Promise<ReadonlyMap<string, readonly string[]>> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#hosts === undefined || nowMs - this.#hostsReadMs >= HOSTS_KEPT_MS) {
      this.#hostsReadMs = nowMs;
      this.#hosts = readFile(this.#hostsFile, 'utf8').then(parseHosts, () => new Map<string, readonly string[]>());
    }
    return this.#hosts;
  }
}
