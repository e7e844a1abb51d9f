/**
 * Where a company's domain is from, in order of trust (decisions §8). A snapshot stores the index plus one, so new entries go
 * to the end.
 */
export const DOMAIN_EVIDENCE = ['manifest', 'directory', 'source', 'site', 'links', 'namesake'] as const;
export type DomainEvidence = (typeof DOMAIN_EVIDENCE)[number];

/** A domain from the operator or the job's source is stated; every other domain was assigned. */
export function isStated(evidence: DomainEvidence): boolean {
  return evidence === 'manifest' || evidence === 'source';
}
