/** The jobs routes that answer from memory, where the file was altered in place before all of it was read. */
import { expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { ServedCatalogue } from '../../../src/catalogue/holder.ts';
import { openColumns } from '../../../src/catalogue/snapshot/snapshot.ts';
import { memorySource } from '../../../src/catalogue/snapshot/source.ts';
import type { Route } from '../../../src/http/route.ts';
import { summarizeCompany } from '../../../src/modules/jobs/company.ts';
import { describeMarket } from '../../../src/modules/jobs/market.ts';
import { AnswersMemo, type JobsServices } from '../../../src/modules/jobs/services.ts';
import { findSignals } from '../../../src/modules/jobs/signals.ts';
import { listSkills } from '../../../src/modules/jobs/skills.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';

const company = 'example.com' as CompanyDomain;
const BYTES = bytesOfJobs([minimalJob({ companyDomain: company, skills: ['sql'] })]);

const ROUTES: readonly (readonly [route: Route<JobsServices>, input: object])[] = [
  [summarizeCompany, { company }],
  [findSignals, { role: 'engineer', limit: 5 }],
  [listSkills, { limit: 5 }],
  [describeMarket, { role: 'engineer' }],
];

it.each(ROUTES)('$operation answers, and refuses with 503 once the file is another', ({ handle }, input) => {
  for (const isAltered of [false, true]) {
    let isUnchanged = true;
    const snapshot = openColumns({
      ...memorySource('catalogue.bin', Uint8Array.from(BYTES)),
      readInto(offset, into) {
        into.set(BYTES.subarray(offset, offset + into.length));
        return isUnchanged ? into.length : 0;
      },
      isUnchanged: () => isUnchanged,
    });
    isUnchanged = !isAltered;
    const served: ServedCatalogue = { catalogue: new Catalogue(snapshot), isSynthetic: false };
    const services = { catalogue: { current: () => served }, clock: { nowMs: () => 0 }, memo: new AnswersMemo() };
    const answer = handle(input as never, services as never, {} as never, {} as never);
    expect(answer).toMatchObject(isAltered ? { code: 'CATALOGUE_UNAVAILABLE', status: 503 } : { data: {} });
  }
});
