/** Opens the guarded client for requests to addresses of customers' choosing (siblings §5), and what it must know of the server. */
import { OutboundClient } from '../adapters/outbound/outbound-client.ts';
import { type OwnFetch, OwnHooks } from '../adapters/outbound/own-hooks.ts';
import { listeningRanges } from '../adapters/outbound/own-listening.ts';
import { type NameResolver, SystemResolver } from '../adapters/outbound/resolver.ts';
import type { Clock } from '../base/clock.ts';
import type { Timers } from '../base/timers.ts';
import type { Component } from '../modules/module.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { OutboundPolicy } from '../outbound/policy.ts';
import { NOTHING_ALLOWED, parseTargetAllow } from '../outbound/target-allow.ts';
import type { AppConfig } from './app.ts';

export interface OutboundPorts {
  /** In place of the guarded client. */
  readonly outbound?: Outbound | undefined;
  /** Looks up the names of targets, in place of the system's resolver. */
  readonly resolver?: NameResolver | undefined;
  /** Certificates of the authorities that targets are checked with, PEM, in place of the system's. */
  readonly targetAuthorities?: string | undefined;
}

/**
 * @param surfaceUrls the public addresses of all surfaces: they are no targets
 * @param ownFetch the app's handler, for webhook addresses of this server
 */
export function openOutbound(
  config: AppConfig,
  surfaceUrls: readonly string[],
  ownFetch: OwnFetch,
  ports: OutboundPorts & { readonly clock: Clock; readonly timers: Timers },
): { readonly outbound: Outbound; readonly component: Component } {
  const { host, port, hookBaseUrl, outboundConcurrency, targetAllow } = config;
  const { clock, timers, resolver = new SystemResolver({ clock, timers }), targetAuthorities } = ports;
  const parsed = parseTargetAllow(targetAllow);
  const listening = { ranges: listeningRanges(host), port };
  const policy = new OutboundPolicy({
    own: { urls: surfaceUrls, hookBaseUrl, listening },
    allow: parsed.ok ? parsed.allow : NOTHING_ALLOWED, // the setting's parser has accepted it
  });
  const client = new OutboundClient({
    policy,
    concurrency: outboundConcurrency,
    resolver,
    ownHooks: new OwnHooks(ownFetch, hookBaseUrl),
    clock,
    timers,
    ca: targetAuthorities,
  });
  return { outbound: ports.outbound ?? client, component: { metrics: (page) => client.metrics(page) } };
}
