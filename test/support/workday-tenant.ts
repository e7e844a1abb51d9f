/**
 * The job search of a Workday tenant, as a function: pages of twenty, facets with counts, and totals that may be capped
 * at 2000.
 */

export interface TenantPosting {
  readonly externalPath: string;
  /** Values of each facet that the posting has. */
  readonly facets: Readonly<Record<string, readonly string[]>>;
  readonly [field: string]: unknown;
}

export interface TenantRules {
  /** Counts only to 2000, then starts over. */
  readonly isCapped: boolean;
}

const CAP = 2000;
const PAGE_ROWS = 20;

/** Searches begin with the posting that was listed first. @param sent body of the request */
export function tenantAnswer(postings: readonly TenantPosting[], sent: string, { isCapped }: TenantRules): unknown {
  const { appliedFacets, offset } = JSON.parse(sent) as { appliedFacets: Record<string, string[]>; offset: number };
  const found = postings.filter(({ facets }) =>
    Object.entries(appliedFacets).every(([name, ids]) => facets[name]?.some((id) => ids.includes(id))),
  );
  const counts = new Map<string, Map<string, number>>();
  // Facets are only used on first pages.
  for (const { facets } of offset === 0 ? found : []) {
    for (const [name, ids] of Object.entries(facets)) {
      const values = counts.get(name) ?? new Map<string, number>();
      counts.set(name, values);
      for (const id of ids) values.set(id, (values.get(id) ?? 0) + 1);
    }
  }
  const start = isCapped ? offset % CAP : offset;
  return {
    total: isCapped ? Math.min(CAP, found.length) : found.length,
    jobPostings: found.slice(start, start + PAGE_ROWS).map(({ facets: _, ...posting }) => posting),
    facets: [...counts].map(([facetParameter, values]) => ({
      facetParameter,
      values: [...values].map(([id, count]) => ({ id, count })),
    })),
  };
}
