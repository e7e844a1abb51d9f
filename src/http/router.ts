/**
 * Finds the route of a path: a fixed path by one Map look-up, a path with parameters by itty-router's compiled patterns. The
 * router uses only these patterns: itty-router's own dispatch accepts repeated slashes at the end, does not know HEAD and 405,
 * and parses the URL again. The Map comes first because trying every pattern for each request costs throughput.
 *
 * A path is compared as sent: an alias (`//`, a trailing slash, another case, percent-encoded letters) is not a route.
 */
import { Router } from 'itty-router';
import type { Contract, Method } from './contract.ts';

/** The methods of one path, in the order of declaration. */
export interface PathTable<T> {
  readonly methods: ReadonlyMap<string, T>;
  /** Value of `Allow`. */
  readonly allow: string;
}

export interface Match<T> {
  readonly table: PathTable<T>;
  readonly params: Readonly<Record<string, string>>;
}

export interface Routable {
  readonly method: Method;
  readonly path: `/${string}`;
  /** As {@link Contract.decodesParams}; all methods of a path agree. */
  readonly decodesParams?: boolean | undefined;
}

interface Pattern<T> {
  /** What stands before the first parameter: cheaper to compare than the pattern. */
  readonly prefix: string;
  /** The only parameter, where it is all that follows the prefix: cutting it out is cheaper than the pattern. */
  readonly last: string | undefined;
  readonly pattern: RegExp;
  readonly table: PathTable<T>;
  readonly isDecoded: boolean;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const LAST_PARAMETER = /^[^:]*:([a-z_]+)$/;

export type FindPath<T> = (path: string) => Match<T> | undefined;

/** Parameters percent-decoded once (RFC 3986 §2.1); undefined where one is not well formed. */
function decoded(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    return undefined;
  }
}

/** The parameters as sent; undefined for a path that the pattern does not match. @param path begins with the prefix */
function paramsOf(
  path: string,
  { prefix, last, pattern }: Pattern<unknown>,
): Readonly<Record<string, string>> | undefined {
  if (last === undefined) {
    const found = pattern.exec(path);
    return found === null ? undefined : (found.groups ?? NO_PARAMS);
  }
  const value = path.slice(prefix.length);
  return value === '' || value.includes('/') ? undefined : { [last]: value };
}

/** Makes the finder for all routes. @throws Error when two routes have the same method and path */
export function pathFinder<T extends Routable>(routes: readonly T[]): FindPath<T> {
  const byPath = new Map<string, Map<string, T>>();
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<string, T>();
    if (methods.has(route.method)) throw new Error(`two routes claim ${route.method} ${route.path}`);
    byPath.set(route.path, methods.set(route.method, route));
  }
  const fixed = new Map<string, Match<T>>();
  const patterns: Pattern<T>[] = [];
  for (const [path, methods] of byPath) {
    const table: PathTable<T> = { methods, allow: [...methods.keys()].join(', ') };
    if (path.includes(':')) {
      const [compiled] = Router().all(path).routes;
      if (compiled === undefined) throw new Error(`no pattern for ${path}`);
      const isDecoded = [...methods.values()].some(({ decodesParams }) => decodesParams === true);
      const prefix = path.slice(0, path.indexOf(':'));
      patterns.push({ prefix, last: LAST_PARAMETER.exec(path)?.[1], pattern: compiled[1], table, isDecoded });
    } else {
      fixed.set(path, { table, params: NO_PARAMS });
    }
  }
  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    if (path.endsWith('/') || path.includes('//')) return undefined;
    for (const one of patterns) {
      if (!path.startsWith(one.prefix)) continue;
      const sent = paramsOf(path, one);
      if (sent === undefined) continue;
      const { table, isDecoded } = one;
      const params = isDecoded ? decoded(sent) : sent;
      return params && { table, params };
    }
    return undefined;
  };
}
