/**
 * The API catalogue of RFC 9727 as a link set (RFC 9264 §4.2), from the declarations. The catalogue lists the routes whose
 * address is fixed; the API is described by the routes that say which relation they have to it.
 */
import type { Route, ServiceRelation } from '../route.ts';

export const API_CATALOG_PATH = '/.well-known/api-catalog';

interface Link {
  readonly href: string;
  readonly type?: string;
}

/** @param baseUrl public address without a trailing slash */
export function apiCatalogOf(routes: readonly Route[], baseUrl: string): Record<string, unknown> {
  const relations: Partial<Record<ServiceRelation, Link[]>> = {};
  const paths = new Set<string>();
  for (const { path, method, relation, tag, answerType = 'application/json' } of routes) {
    if (relation !== undefined && method === 'GET') {
      relations[relation] = [...(relations[relation] ?? []), { href: baseUrl + path, type: answerType }];
    }
    if (tag !== 'service' && !path.includes(':')) paths.add(path);
  }
  return {
    linkset: [
      {
        anchor: baseUrl + API_CATALOG_PATH,
        item: [{ href: `${baseUrl}/` }, ...[...paths].map((path) => ({ href: baseUrl + path }))],
      },
      { anchor: `${baseUrl}/`, ...relations },
    ],
  };
}

/** Value of `Link` (RFC 8288), for whoever asks with HEAD. */
export const apiCatalogLinkOf = (baseUrl: string): string => `<${baseUrl}${API_CATALOG_PATH}>; rel="api-catalog"`;
