/**
 * Builds the API catalogue of RFC 9727 as a link set (RFC 9264 §4.2) from the declarations. The catalogue lists the
 * operations whose address is fixed; operations with a `relation` are the documents that describe the API.
 */
import type { ServiceRelation } from '../contract.ts';
import type { Operation } from '../operation.ts';

export const API_CATALOG_PATH = '/.well-known/api-catalog';

interface Link {
  readonly href: string;
  readonly type?: string;
}

/** @param baseUrl public address without a trailing slash */
export function apiCatalogOf(operations: readonly Operation[], baseUrl: string): Record<string, unknown> {
  const relations: Partial<Record<ServiceRelation, Link[]>> = {};
  const paths = new Set<string>();
  for (const { path, method, relation, tag, answerType = 'application/json' } of operations) {
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

/** Value of `Link` (RFC 8288) in the answer to HEAD. */
export const apiCatalogLinkOf = (baseUrl: string): string => `<${baseUrl}${API_CATALOG_PATH}>; rel="api-catalog"`;
