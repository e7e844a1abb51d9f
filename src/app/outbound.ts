/** Opens the guarded client for requests to addresses that customers chose (siblings §5), with what it must know of the server. */
import { type Exchange, userAgentOf } from '../adapters/outbound/exchange.ts';
import { OutboundClient } from '../adapters/outbound/outbound-client.ts';
import { type OwnFetch, OwnHooks } from '../adapters/outbound/own-hooks.ts';
import { listeningRanges } from '../adapters/outbound/own-listening.ts';
import { type NameResolver, SystemResolver } from '../adapters/outbound/resolver.ts';
import type { Clock } from '../base/clock.ts';
import type { Timers } from '../base/timers.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { OutboundPolicy } from '../outbound/policy.ts';
import type { Config } from './configuration.ts';
import type { SurfaceMount } from './mounts.ts';
import type { Server } from './server.ts';

export interface OutboundPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Sends requests to targets, in place of the guarded client. */
  readonly outbound?: Outbound | undefined;
  /** Looks up the names of targets, in place of the system's resolver. */
  readonly resolver?: NameResolver | undefined;
  /** Sends to addresses that were judged, in place of sockets. */
  readonly exchange?: Exchange | undefined;
}

/**
 * @param mounts surfaces whose public addresses must not be targets
 * @param ownFetch the app's handler, for webhook addresses of this server
 * @param server receives the client's metrics
 */
export function openOutbound(
  config: Config & { readonly hookBaseUrl: string },
  mounts: readonly SurfaceMount[],
  ownFetch: OwnFetch,
  ports: OutboundPorts,
  server: Server,
): Outbound {
  const { host, port, hookBaseUrl, outboundConcurrency, targetAllow, contact } = config;
  const { clock, timers, resolver = new SystemResolver({ clock, timers }), exchange } = ports;
  const listening = { ranges: listeningRanges(host), port };
  const userAgent = userAgentOf(contact);
  const policy = new OutboundPolicy({
    own: { urls: mounts.map(({ mount }) => mount.baseUrl), hookBaseUrl, listening },
    allow: targetAllow,
  });
  const client = new OutboundClient({
    policy,
    concurrency: outboundConcurrency,
    resolver,
    ownHooks: new OwnHooks(ownFetch, hookBaseUrl, userAgent),
    clock,
    timers,
    exchange,
    userAgent,
  });
  server.add({ metrics: (page) => client.metrics(page) });
  return ports.outbound ?? client;
}
