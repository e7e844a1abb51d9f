/**
 * A snapshot as native JSONL, in the snapshot's order: every field on every line, null where nothing is recorded,
 * skills always (so that a build extracts none), times in UTC with milliseconds, descriptions as text. The first line
 * has one key more, `snapshot`, which export-facts.ts explains; the export of an empty snapshot has no line, so it has
 * no facts either. The history is not exported: a build from the lines derives one from the jobs.
 */
import { isoTime, isoTimeOrNull } from '../base/iso-time.ts';
import type { Job } from '../catalogue/job.ts';
import type { Snapshot } from '../catalogue/snapshot/snapshot.ts';
import { exportFactsOf } from './export-facts.ts';
import type { NativeRecord } from './native.ts';

type Identity = 'company_domain_evidence' | 'company_aliases';

/** The keys of a native line beyond the specification, only where needed: absent means `source` and no alias. */
function identityOf({ companyAliases = [], companyDomain, companyDomainEvidence }: Job): Pick<NativeRecord, Identity> {
  const isAssumed = companyDomain === null || (companyDomainEvidence ?? 'source') === 'source';
  return {
    ...(isAssumed ? {} : { company_domain_evidence: companyDomainEvidence ?? null }),
    ...(companyAliases.length === 0 ? {} : { company_aliases: companyAliases }),
  };
}

function nativeOf(job: Job): Required<Omit<NativeRecord, Identity>> & Pick<NativeRecord, Identity> {
  return {
    id: job.id,
    title: job.title,
    company: job.company,
    company_domain: job.companyDomain,
    ...identityOf(job),
    location: job.location,
    department: job.department,
    remote_status: job.remoteStatus,
    employment_type: job.employmentType,
    source_url: job.sourceUrl,
    description: job.description,
    description_format: job.description === null ? null : 'text',
    description_truncated: job.descriptionTruncated,
    skills: job.skills,
    first_observed_at: isoTime(job.firstObservedMs),
    last_observed_at: isoTime(job.lastObservedMs),
    status: job.status,
    closed_at: isoTimeOrNull(job.closedAtMs),
  };
}

/** One line a job, each with its line feed. */
export function* exportLines(snapshot: Snapshot): Generator<string, void, void> {
  for (let row = 0; row < snapshot.rowCount; row++) {
    const record = nativeOf(snapshot.job(row));
    const facts = row === 0 ? { snapshot: exportFactsOf(snapshot.contentDigest, snapshot.facts) } : {};
    yield `${JSON.stringify({ ...record, ...facts })}\n`;
  }
}
