/**
 * The outbound client of `watch`: the guarded client with its address rules, applied to boards instead of customers' targets.
 */
import { BoardClient } from '../../adapters/boards/board-client.ts';
import { HostPace } from '../../adapters/boards/host-pace.ts';
import { VISITS_AT_ONCE } from '../../adapters/boards/limits.ts';
import { RobotsFiles } from '../../adapters/boards/robots-files.ts';
import { userAgentOf } from '../../adapters/outbound/exchange.ts';
import { OutboundClient } from '../../adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../../adapters/outbound/own-hooks.ts';
import { SystemResolver } from '../../adapters/outbound/resolver.ts';
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { OutboundPolicy } from '../../outbound/policy.ts';
import type { TargetAllow } from '../../outbound/target-allow.ts';

export interface WayOutSettings {
  /** CONTACT. */
  readonly contact: string | null;
  /** TARGET_ALLOW, as given. */
  readonly targetAllow: TargetAllow;
  /** Between two requests to one host, milliseconds. */
  readonly pauseMs: number;
  readonly draw: () => number;
  readonly clock: Clock;
  readonly timers: Timers;
  /** One request, milliseconds; `REQUEST_MS` when not given. */
  readonly requestMs?: number;
}

export interface WayOut {
  readonly client: BoardClient;
  readonly pace: HostPace;
}

/** No server runs here, so no address is an own hook: a name that never resolves (RFC 6761 §6.4). */
const NO_SERVER = 'http://paygrade.invalid';

function guardedClient({ contact, targetAllow, clock, timers }: WayOutSettings): Outbound {
  const userAgent = userAgentOf(contact);
  return new OutboundClient({
    policy: new OutboundPolicy({
      own: { urls: [], hookBaseUrl: NO_SERVER, listening: { ranges: [], port: 0 } },
      allow: targetAllow,
    }),
    concurrency: VISITS_AT_ONCE,
    resolver: new SystemResolver({ clock, timers }),
    ownHooks: new OwnHooks(() => new Response(null, { status: 404 }), NO_SERVER, userAgent),
    clock,
    timers,
    userAgent,
  });
}

export function openWayOut(settings: WayOutSettings, outbound: Outbound = guardedClient(settings)): WayOut {
  const { clock, draw, pauseMs, requestMs, timers } = settings;
  const pace = new HostPace(pauseMs, clock, timers);
  const robots = new RobotsFiles(outbound, pace, clock);
  const robotsOf = robots.rulesOf.bind(robots);
  return { pace, client: new BoardClient({ outbound, pace, clock, draw, robotsOf, requestMs }) };
}
