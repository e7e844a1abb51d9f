/** The products of a server, and the default of `SURFACES` (siblings §1). */
import { isLoopbackHost } from '../base/ip-address.ts';

/** Products that a server can have; `SURFACES` chooses among them. */
export const SURFACE_NAMES = ['jobs', 'callbacks', 'data', 'retry', 'resolve'] as const;
export type SurfaceName = (typeof SURFACE_NAMES)[number];

/** Products that send requests to addresses a customer chose. On a public server, play money must not buy them. */
const SENDING: readonly SurfaceName[] = ['retry', 'resolve'];

export interface Publicity {
  readonly settlement: string;
  /** Where it listens. */
  readonly host: string;
  /** Its public address; null = where it listens. */
  readonly baseUrl: string | null;
}

/** Names under `localhost` too: browsers take them for this machine (RFC 6761 §6.3). */
const isThisMachine = (host: string): boolean => isLoopbackHost(host) || /\.localhost$/i.test(host);

const isOfThisMachine = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** A server that listens everywhere has one of these in its address, which leads each sender to itself. */
const UNSPECIFIED: readonly string[] = ['0.0.0.0', '[::]'];

const leadsToSender = (url: string): boolean => isOfThisMachine(url) || UNSPECIFIED.includes(new URL(url).hostname);

const isPublic = ({ host, baseUrl }: Publicity): boolean =>
  !isThisMachine(host) || (baseUrl !== null && !isOfThisMachine(baseUrl));

/** Products that play money would open to everyone: on only when `SURFACES` names them. */
const withheldSurfaces = (server: Publicity): readonly SurfaceName[] =>
  server.settlement === 'local' && isPublic(server) ? SENDING : [];

export function defaultSurfaces(server: Publicity): readonly SurfaceName[] {
  const withheld = withheldSurfaces(server);
  return SURFACE_NAMES.filter((name) => !withheld.includes(name));
}

interface OpenSurfaces extends Publicity {
  readonly surfaces: readonly SurfaceName[];
  /** Where webhooks go. */
  readonly hookBaseUrl: string;
}

/** Products that this server lacks but carries on, for what was bought while it had them (siblings §6, §7). */
export const carriedOnSurfaces = (server: Publicity & Pick<OpenSurfaces, 'surfaces'>): readonly SurfaceName[] =>
  withheldSurfaces(server).length > 0 ? [] : SENDING.filter((name) => !server.surfaces.includes(name));

/** Notices at start about withheld products; none when `SURFACES` differs from its default. */
function withheldNotices(server: OpenSurfaces): readonly string[] {
  const withheld = withheldSurfaces(server);
  if (withheld.length === 0 || String(server.surfaces) !== String(defaultSurfaces(server))) return [];
  return [
    `SETTLEMENT=local and a public address: ${withheld.join(' and ')} off, because play money must not buy outbound requests; SURFACES can name them`,
  ];
}

/** A notice when hook addresses name this machine: such a callback is paid for, but receives nothing from elsewhere. */
export function hookNotices({ baseUrl, hookBaseUrl, surfaces }: OpenSurfaces): readonly string[] {
  const isPrivate = baseUrl === null || leadsToSender(baseUrl) || !surfaces.includes('callbacks');
  if (isPrivate || !leadsToSender(hookBaseUrl)) return [];
  return [
    `callbacks are sold with addresses of this machine (${hookBaseUrl}/hooks/…), which no other sender reaches: set HOOK_BASE_URL`,
  ];
}

/** Notices at start about a server's products. */
export const surfaceNotices = (server: OpenSurfaces): readonly string[] => [
  ...withheldNotices(server),
  ...hookNotices(server),
];
