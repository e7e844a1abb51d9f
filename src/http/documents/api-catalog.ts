/**
 * Builds the API catalogue of RFC 9727 as a link set (RFC 9264 §4.2) from the declarations: the base and the other surfaces of
 * the server, each an API with a context of its own. The catalogue lists the operations whose address is fixed; operations
 * with a `relation` are the documents that describe an API.
 */
import type { ServiceRelation } from '../contract.ts';
import type { Operation } from '../operation.ts';

export const API_CATALOG_PATH = '/.well-known/api-catalog';

interface Link {
  readonly href: string;
  readonly type?: string;
}

/** One API of the catalogue. */
export interface CataloguedApi {
  /** Public address without a trailing slash. */
  readonly baseUrl: string;
  readonly operations: readonly Operation[];
}

const anchorOf = ({ baseUrl }: CataloguedApi): string => `${baseUrl}/`;

/** The addresses of its products that have no parameter in their path. */
function itemsOf({ operations, baseUrl }: CataloguedApi): readonly Link[] {
  const paths = operations.filter(({ tag, path }) => tag !== 'service' && !path.includes(':')).map(({ path }) => path);
  return [...new Set(paths)].map((path) => ({ href: baseUrl + path }));
}

function relationsOf({ operations, baseUrl }: CataloguedApi): Partial<Record<ServiceRelation, Link[]>> {
  const relations: Partial<Record<ServiceRelation, Link[]>> = {};
  for (const { path, method, relation, answerType = 'application/json' } of operations) {
    if (relation === undefined || method !== 'GET') continue;
    relations[relation] = [...(relations[relation] ?? []), { href: baseUrl + path, type: answerType }];
  }
  return relations;
}

/** @param base the API that serves the catalogue */
export function apiCatalogOf(base: CataloguedApi, others: readonly CataloguedApi[]): Record<string, unknown> {
  const apis = [base, ...others];
  return {
    linkset: [
      {
        anchor: base.baseUrl + API_CATALOG_PATH,
        item: [{ href: anchorOf(base) }, ...apis.flatMap(itemsOf)],
      },
      ...apis.map((api) => ({ anchor: anchorOf(api), ...relationsOf(api) })),
    ],
  };
}

/** Value of `Link` (RFC 8288) in the answer to HEAD. */
export const apiCatalogLinkOf = (baseUrl: string): string => `<${baseUrl}${API_CATALOG_PATH}>; rel="api-catalog"`;
