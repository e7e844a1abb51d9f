/**
 * Mounts the surfaces. A surface always answers below its path. If its public address has another host than the base, it also
 * answers on that host, both at that address's path and below its own (siblings §1); only then does routing read the Host
 * header.
 */
import type { ClientConnection, ServedRequest } from '../adapters/listen/listen.ts';
import { memoizeRecent } from '../base/memoize-recent.ts';
import { ConfigError } from '../config/config.ts';
import type { Mount } from '../http/access.ts';
import type { MadeResponse } from '../http/response-form.ts';
import { type Target, targetOf } from '../http/target.ts';
import { CONFIGURATION } from './configuration.ts';
import type { SurfaceDefinition } from './modules.ts';
import type { FoundPath, Surface } from './surface.ts';

export interface SurfaceMount {
  readonly definition: SurfaceDefinition;
  readonly mount: Mount;
  /** As {@link hostOf} gives it; undefined where the surface shares the base's host. */
  readonly host: string | undefined;
  /** Path of its public address on that host. */
  readonly hostPath: string;
}

/** `name:port` without the ports that http and https imply, lower case, without the dot of a fully qualified name. */
const hostOf = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:(?:80|443)$/, '')
    .replace(/\.(?=$|:)/, '');

const rootOr = (path: string): string => (path === '' ? 'the root' : path);

/**
 * @param config option name to value
 * @throws ConfigError for a surface with the address of the base; Error for two surfaces at one place, and for an unknown setting
 */
export function mountsOf(
  definitions: readonly SurfaceDefinition[],
  config: { readonly baseUrl: string } & Readonly<Record<string, unknown>>,
): readonly SurfaceMount[] {
  const baseHost = hostOf(new URL(config.baseUrl).host);
  const claimed = new Set<string>();
  const claim = (place: string): void => {
    if (claimed.has(place)) throw new Error(`two surfaces are mounted at ${place}`);
    claimed.add(place);
  };
  return definitions.map((definition) => {
    const { name, path, urlSetting } = definition;
    claim(rootOr(path));
    if (urlSetting !== undefined && !(urlSetting in config)) {
      throw new Error(
        `the surface ${name} takes its address from ${urlSetting}, which is no setting in the list of src/app/configuration.ts`,
      );
    }
    const given = urlSetting === undefined ? undefined : config[urlSetting];
    const baseUrl = typeof given === 'string' ? given : `${config.baseUrl}${path}`;
    if (path !== '' && baseUrl === config.baseUrl) {
      throw new ConfigError(`the surface ${name} needs another address than the base: ${baseUrl} has other operations`);
    }
    const { host, pathname } = new URL(baseUrl);
    const ownHost = hostOf(host) === baseHost ? undefined : hostOf(host);
    const hostPath = pathname === '/' ? '' : pathname;
    if (ownHost !== undefined) for (const place of new Set([hostPath, path])) claim(`${ownHost}${place}`);
    return {
      definition,
      mount: { labels: name === null ? {} : { surface: name }, baseUrl },
      host: ownHost,
      hostPath,
    };
  });
}

const pathOf = (url: string): string => new URL(url).pathname.replace(/\/$/, '');

/**
 * A line for each surface on the base's host whose public address has another path than those below which it answers: only a proxy
 * that changes the path makes such an address work.
 * @param mounts of {@link mountsOf}
 */
export function mountNotices(mounts: readonly SurfaceMount[], baseUrl: string): readonly string[] {
  return mounts.flatMap(({ definition: { path, title, urlSetting }, mount, host }) => {
    if (urlSetting === undefined || host !== undefined) return [];
    if ([path, pathOf(`${baseUrl}${path}`)].includes(pathOf(mount.baseUrl))) return [];
    const variable = CONFIGURATION.groups.map(({ settings }) => settings[urlSetting]).find(Boolean)?.variable;
    return [
      `${title}: its address ${mount.baseUrl} has the host of BASE_URL, where the server answers below ${path} alone: change ${variable}, or let the proxy change the path`,
    ];
  });
}

export interface MountedSurface<R extends MadeResponse> extends SurfaceMount {
  readonly surface: Surface<R>;
}

/** The path below the surface on its own host, where it answers at its host path and at the path that it has everywhere. */
const pathOnHost = ({ definition, hostPath }: SurfaceMount, path: string): string | undefined =>
  pathBelow(definition.path, path) ?? pathBelow(hostPath, path);

/** The rest of a path below a prefix, or undefined for a path that is not below it. */
function pathBelow(prefix: string, path: string): string | undefined {
  if (prefix === '') return path;
  if (!path.startsWith(prefix)) return undefined;
  if (path.length === prefix.length) return '/';
  return path.charCodeAt(prefix.length) === 47 /* "/" */ ? path.slice(prefix.length) : undefined;
}

/** Where a request goes. */
interface Place<R extends MadeResponse> {
  readonly surface: Surface<R>;
  readonly target: Target;
  readonly match: FoundPath | undefined;
}

/** Memoized because a client asks one address again and again: a webhook's, a callback's, a payment's, `/health`. */
const PLACE_COUNT_MAX = 4096;
const PLACE_LENGTH_MAX = 256;

export type HandleRequest<R> = (request: ServedRequest, client: ClientConnection, startMs: number) => R | Promise<R>;

/** Passes each request to its surface; requests of no other surface go to the base. @throws Error without a base */
export function surfaceFinder<R extends MadeResponse>(mounted: readonly MountedSurface<R>[]): HandleRequest<R> {
  const base = mounted.find(({ definition }) => definition.path === '');
  if (base === undefined) throw new Error('no surface is mounted at the root');
  // The longest path first: a surface may be mounted below another one's path.
  const others = mounted
    .filter((one) => one !== base)
    .sort((a, b) => b.definition.path.length - a.definition.path.length);
  const withHost = others
    .filter(({ host }) => host !== undefined)
    .sort((a, b) => b.hostPath.length - a.hostPath.length);

  const placeOf = (url: string): Place<R> => {
    const target = targetOf(url);
    for (const { definition, surface } of others) {
      const path = pathBelow(definition.path, target.path);
      if (path !== undefined) return { surface, target, match: surface.find(path) };
    }
    return { surface: base.surface, target, match: base.surface.find(target.path) };
  };
  const memoizedPlaceOf = memoizeRecent(placeOf, PLACE_COUNT_MAX, PLACE_LENGTH_MAX);
  const byPath: HandleRequest<R> = (request, client, startMs) => {
    const { url } = request;
    // Few questions come twice.
    const { surface, target, match } = url.includes('?') ? placeOf(url) : memoizedPlaceOf(url);
    return surface.handle(request, target, match, startMs, client);
  };
  if (withHost.length === 0) return byPath;

  return (request, client, startMs) => {
    const header = client.header === undefined ? request.headers.get('host') : client.header('host');
    const host = header === null ? undefined : hostOf(header);
    const target = targetOf(request.url);
    for (const one of withHost) {
      const path = one.host === host ? pathOnHost(one, target.path) : undefined;
      if (path !== undefined) return one.surface.handle(request, target, one.surface.find(path), startMs, client);
    }
    return byPath(request, client, startMs);
  };
}
