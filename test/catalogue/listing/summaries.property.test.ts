/** Companies, skills, metrics and samples against plain counts over all jobs. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../../src/catalogue/job.ts';
import { POSITION_BYTES_MAX, PUBLIC_POOL_SIZE } from '../../../src/catalogue/limits.ts';
import { companyHiring, companySummary } from '../../../src/catalogue/listing/companies.ts';
import { listSkillCounts } from '../../../src/catalogue/listing/list-skills.ts';
import type { SkillCount, SkillFilters } from '../../../src/catalogue/listing/listing-answers.ts';
import { hiringMetrics } from '../../../src/catalogue/listing/metrics.ts';
import { publicSamples } from '../../../src/catalogue/listing/public-samples.ts';
import { activeRows } from '../../../src/catalogue/listing/rows-between.ts';
import { skillsOfRows } from '../../../src/catalogue/listing/skill-table.ts';
import { TimeCounts } from '../../../src/catalogue/listing/time-counts.ts';
import { companyActivity } from '../../../src/catalogue/questions/company.ts';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { comparedText, termsOf } from '../../../src/catalogue/terms.ts';
import { type CatalogueShape, generatedJobs, NOW_MS, SeededChance } from '../../support/generated-catalogue.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { newestFirst } from '../../support/naive-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

const DAY_MS = 86_400_000;
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const identityOf = ({ company, companyDomain }: Job): string =>
  companyDomain === null ? `${comparedText(company)}\n` : companyDomain;
const isActive = ({ status }: Job): boolean => status === 'active';
const least = (times: readonly number[]): number | null =>
  times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
const most = (times: readonly number[]): number | null =>
  times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));

/** Active jobs first, each newest first. */
const inOrder = (jobs: readonly Job[]): Job[] => [
  ...jobs.filter(isActive).sort(newestFirst),
  ...jobs.filter((job) => !isActive(job)).sort(newestFirst),
];

function departmentsOf(jobs: readonly Job[]): { department: string; activeJobCount: number }[] {
  const recorded = jobs.filter((job) => isActive(job) && job.department !== null);
  return [...Map.groupBy(recorded, ({ department }) => comparedText(department!)).values()]
    .map((group) => ({ department: group[0]!.department!, activeJobCount: group.length }))
    .sort((a, b) => b.activeJobCount - a.activeJobCount || byCodeUnit(a.department, b.department))
    .slice(0, 10);
}

const isDepartment = ({ department }: Job, wanted: string | undefined): boolean =>
  wanted === undefined || (department !== null && comparedText(department) === comparedText(wanted));

function skillsOf(jobs: readonly Job[], filters: SkillFilters): SkillCount[] {
  const matching = jobs.filter(
    (job) =>
      isActive(job) &&
      (filters.company === undefined || job.companyDomain === filters.company) &&
      isDepartment(job, filters.department),
  );
  const pairs = matching.flatMap((job) => job.skills.map((skill) => ({ skill, company: identityOf(job) })));
  return [...Map.groupBy(pairs, ({ skill }) => skill)]
    .filter(([skill]) => termsOf(filters.q ?? '').every((term) => comparedText(skill).includes(term)))
    .map(([skill, having]) => ({
      skill,
      activeJobs: having.length,
      companies: new Set(having.map(({ company }) => company)).size,
    }))
    .sort((a, b) => b.activeJobs - a.activeJobs || byCodeUnit(a.skill, b.skill));
}

function skillChain(catalogue: Catalogue, filters: SkillFilters, limit: number, from?: Uint8Array): SkillCount[] {
  const skills: SkillCount[] = [];
  let after = from;
  for (;;) {
    const page = listSkillCounts(catalogue, filters, after, limit)!;
    skills.push(...page.skills);
    if (page.next === null) return skills;
    expect(page.skills).toHaveLength(limit);
    after = page.next;
  }
}

const shapes: readonly (readonly [string, CatalogueShape])[] = [
  ['a few jobs', { jobCount: 40, closedPercent: 30 }],
  ['companies of one job each at the tenth place', { jobCount: 90, moreCompanies: 60, closedPercent: 10 }],
  ['a company of hundreds of jobs', { jobCount: 1600, moreCompanies: 30, closedPercent: 40 }],
  ['closed jobs only', { jobCount: 30, closedPercent: 100 }],
  ['no job', { jobCount: 0 }],
];

describe.each(shapes)('over a catalogue of %s', (title, shape) => {
  const chance = new SeededChance(title.length);
  const jobs = inOrder(generatedJobs(chance, shape));
  const catalogue = new Catalogue(openedJobs(chance.shuffled(jobs)));
  const active = jobs.filter(isActive);
  const periods = [0, 1, -1, 3 * 3_600_000, DAY_MS / 2].map((ms) => observationPeriodEndingAt(NOW_MS + ms));
  const domains = [...new Set(jobs.map(({ companyDomain }) => companyDomain))].filter((domain) => domain !== null);

  it('the overview counts all jobs', () => {
    expect(catalogue.listing.overview).toEqual({
      activeJobs: active.length,
      closedJobs: jobs.length - active.length,
      companies: new Set(active.map(identityOf)).size,
      byRemoteStatus: REMOTE_STATUSES.map((remoteStatus) => ({
        remoteStatus,
        activeJobCount: active.filter((job) => job.remoteStatus === remoteStatus).length,
      })),
      byEmploymentType: EMPLOYMENT_TYPES.map((employmentType) => ({
        employmentType,
        activeJobCount: active.filter((job) => job.employmentType === employmentType).length,
      })),
      firstObservedMs: least(jobs.map(({ firstObservedMs }) => firstObservedMs)),
      lastObservedMs: most(jobs.map(({ lastObservedMs }) => lastObservedMs)),
    });
  });

  it('the hiring metrics count what the period brought', () => {
    for (const { endMs, startMs } of periods) {
      const isInside = (ms: number | null): boolean => ms !== null && ms >= startMs && ms <= endMs;
      const opened = jobs.filter(({ firstObservedMs }) => isInside(firstObservedMs));
      const closed = jobs.filter(({ closedAtMs }) => isInside(closedAtMs));
      const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
      const companies = [...Map.groupBy(active, identityOf)].map(([identity, own]) => ({
        identity,
        company: { name: own[0]!.company, domain: own[0]!.companyDomain },
        activeJobCount: own.length,
        firstObservedJobs: opened.filter((job) => identityOf(job) === identity).length,
      }));
      companies.sort(
        (a, b) =>
          b.activeJobCount - a.activeJobCount ||
          b.firstObservedJobs - a.firstObservedJobs ||
          byCodeUnit(a.identity, b.identity),
      );
      expect(hiringMetrics(catalogue, { startMs, endMs })).toEqual({
        firstObservedJobs: opened.length,
        noLongerObservedJobs: closed.length,
        netChange: opened.length - closed.length,
        byDay: Array.from({ length: 8 }, (_, i) => dayOf(startMs) + i * DAY_MS).map((dayMs) => ({
          dayMs,
          firstObservedJobs: opened.filter((job) => dayOf(job.firstObservedMs) === dayMs).length,
          noLongerObservedJobs: closed.filter((job) => dayOf(job.closedAtMs!) === dayMs).length,
        })),
        topCompanies: companies.slice(0, 10).map(({ identity: _, ...company }) => company),
        topDepartments: departmentsOf(jobs),
        topSkills: skillsOf(jobs, {})
          .slice(0, 10)
          .map(({ activeJobs, skill }) => ({ skill, activeJobCount: activeJobs })),
      });
    }
  });

  it('a company is counted whole', () => {
    for (const domain of [...domains, ...domains]) {
      const own = jobs.filter(({ companyDomain }) => companyDomain === domain);
      const company = { name: own[0]!.company, domain };
      const ownActive = own.filter(isActive);
      expect(companySummary(catalogue, domain)).toEqual({
        company,
        activeJobCount: ownActive.length,
        closedJobCount: own.length - ownActive.length,
        departments: departmentsOf(own),
        firstObservedMs: least(own.map(({ firstObservedMs }) => firstObservedMs)),
        lastObservedMs: most(own.map(({ lastObservedMs }) => lastObservedMs)),
      });
      const period = chance.oneOf(periods);
      const isInside = (ms: number | null): boolean => ms !== null && ms >= period.startMs && ms <= period.endMs;
      // A company of fewer jobs than the cohort is answered as on the paid route.
      const { cohort, ...paid } = companyActivity(catalogue, domain)!;
      const recent = ownActive.filter(({ lastObservedMs }) => isInside(lastObservedMs)).length;
      expect(companyHiring(catalogue, domain, period)).toEqual({
        ...paid,
        jobsWithoutDepartment: cohort.jobsWithoutDepartment,
        assignedDomainJobs: cohort.assignedDomainJobs,
        firstObservedJobs: own.filter(({ firstObservedMs }) => isInside(firstObservedMs)).length,
        noLongerObservedJobs: own.filter(({ closedAtMs }) => isInside(closedAtMs)).length,
        hiringActivityScore: ownActive.length === 0 ? 0 : Math.round((10_000 * recent) / ownActive.length + 1e-9) / 100,
      });
    }
    const unknown = 'unknown.example' as CompanyDomain;
    expect(companySummary(catalogue, unknown)).toBe(undefined);
    expect(companyHiring(catalogue, unknown, periods[0]!)).toBe(undefined);
  });

  it('skills come by jobs, then by text, at every limit', () => {
    for (let i = 0; i < partOf(60, 20); i++) {
      const filters: SkillFilters = {
        ...(chance.is(40) ? { q: chance.oneOf(['r', 'RUST', 'o d', 'ﬁg', 'zz', '東']) } : {}),
        ...(chance.is(30)
          ? { company: (chance.is(90) ? domains : [])[chance.below(3)] ?? ('none.example' as CompanyDomain) }
          : {}),
        ...(chance.is(40) ? { department: chance.oneOf(['ENGINEERING', 'sales', 'g&a', 'nowhere']) } : {}),
      };
      const expected = skillsOf(jobs, filters);
      const limit = chance.oneOf([1, 2, 5, Math.max(expected.length, 1), 100]);
      expect(skillChain(catalogue, filters, limit), JSON.stringify(filters)).toEqual(expected);
    }
  });

  it('samples come from the jobs with the smallest digests', () => {
    const digestOf = ({ id }: Job): string => createHash('sha256').update(id).digest('hex');
    const pool = [...active].sort((a, b) => byCodeUnit(digestOf(a), digestOf(b))).slice(0, PUBLIC_POOL_SIZE);
    let found = 0;
    for (const q of ['en', 'senior', 'a', 'rust', 'acme', 'zzz', 'o e']) {
      const matching = pool.filter((job) =>
        termsOf(q).every((term) =>
          [job.title, job.company, job.department ?? '', ...job.skills].some((text) =>
            comparedText(text).includes(term),
          ),
        ),
      );
      const { poolSize, rows } = publicSamples(catalogue, q);
      expect(poolSize).toBe(pool.length);
      expect(rows.map((row) => catalogue.snapshot.cold.rowAt(row).id)).toEqual(
        matching.slice(0, 5).map(({ id }) => id),
      );
      found += rows.length;
    }
    expect(found > 0).toBe(active.length > 0);
  });
});

it('skills of a common department and of a rare one are counted alike', () => {
  const chance = new SeededChance(8);
  const jobs = generatedJobs(chance, { jobCount: 2000, moreCompanies: 40 }).map((job, i) => ({
    ...job,
    department: i % 50 === 0 ? 'Rare' : 'Common',
  }));
  const catalogue = new Catalogue(openedJobs(jobs));
  for (const department of ['common', 'RARE', 'rare']) {
    expect(skillChain(catalogue, { department }, 4)).toEqual(skillsOf(jobs, { department }));
  }
});

it('skills are counted alike with a bitmap of companies and without', () => {
  const { snapshot } = new Catalogue(
    openedJobs(generatedJobs(new SeededChance(9), { jobCount: 900, moreCompanies: 50 })),
  );
  const everyThird = Uint32Array.from({ length: Math.floor(snapshot.activeCount / 3) }, (_, i) => i * 3);
  for (const rows of [activeRows(snapshot), everyThird, new Uint32Array(0)]) {
    const marked = skillsOfRows(snapshot, rows);
    expect(skillsOfRows(snapshot, rows, 0)).toEqual(marked);
    expect(marked.codes.length > 0).toBe(rows.length > 0);
  }
});

it('times are counted as a plain filter counts them, in whatever order moments are asked for', () => {
  const chance = new SeededChance(10);
  for (const times of [
    [],
    [5],
    [7, 7, 7],
    [-3, 0, 8.64e15, -8.64e15],
    Array.from({ length: 3000 }, () => NOW_MS - chance.below(90) * DAY_MS),
    Array.from({ length: 3000 }, () => NOW_MS - chance.below(90 * DAY_MS)),
  ]) {
    const counts = new TimeCounts(Float64Array.from(times));
    for (let i = 0; i < partOf(200, 50); i++) {
      const startMs = (times.length === 0 ? 0 : chance.oneOf(times)) + chance.oneOf([0, 1, -1, DAY_MS]);
      const endMs = startMs + chance.oneOf([0, 1, DAY_MS, 7 * DAY_MS]);
      expect(counts.before(startMs)).toBe(times.filter((ms) => ms < startMs).length);
      expect(counts.inside({ startMs, endMs })).toBe(times.filter((ms) => ms >= startMs && ms <= endMs).length);
    }
  }
});

describe('a list of skills that is paged over another state', () => {
  const LONG = `A skill with a name that is longer than any position can hold${', for example'.repeat(12)} `;
  const jobsWith = (skills: readonly string[]): Job[] =>
    skills.flatMap((skill, i) => [
      minimalJob({ id: `a${i}`, skills: [skill] }),
      minimalJob({ id: `b${i}`, skills: i % 3 === 0 ? [skill] : [] }),
    ]);
  const skills = ['Go', 'Rust', 'ﬁgma', '\uffe6', '\u{10400}', ...Array.from({ length: 9 }, (_, i) => `${LONG}${i}`)];
  const catalogue = new Catalogue(openedJobs(jobsWith(skills)));
  const whole = skillChain(catalogue, {}, 100);

  it('goes on behind the skill that it ended with', () => {
    for (let limit = 1; limit < whole.length; limit++) {
      const { next } = listSkillCounts(catalogue, {}, undefined, limit)!;
      const later = new Catalogue(
        openedJobs([...jobsWith(skills), minimalJob({ id: 'new', skills: ['Another', 'Zig', '\uffe7'] })]),
      );
      const last = whole[limit - 1]!;
      const expected = skillChain(later, {}, 100).filter(
        ({ activeJobs, skill }) =>
          activeJobs < last.activeJobs || (activeJobs === last.activeJobs && skill > last.skill),
      );
      expect(skillChain(later, {}, 2, next!)).toEqual(expected);
    }
  });

  it('goes on where a skill is gone, and repeats rather than skips among long ones', () => {
    for (let limit = 1; limit < whole.length; limit++) {
      const { next } = listSkillCounts(catalogue, {}, undefined, limit)!;
      const gone = whole[limit - 1]!.skill;
      const left = skillChain(
        new Catalogue(
          openedJobs(jobsWith(skills).map((job) => ({ ...job, skills: job.skills.filter((skill) => skill !== gone) }))),
        ),
        {},
        3,
        next!,
      );
      const expected = whole.slice(limit);
      expect(left.slice(left.length - expected.length)).toEqual(expected);
      if (!gone.startsWith(LONG)) expect(left).toEqual(expected);
    }
  });

  const short = listSkillCounts(catalogue, {}, undefined, 1)!.next!;
  const place = whole.findIndex(({ skill }) => skill.startsWith(LONG));
  const long = listSkillCounts(catalogue, {}, undefined, place + 1)!.next!;

  it.each([
    ['empty', new Uint8Array(0)],
    ['of an unknown form', Uint8Array.of(2, ...short.subarray(1))],
    ['cut off in its count', short.subarray(0, 4)],
    ['of no job', short.map((byte, i) => (i > 0 && i < 5 ? 0 : byte))],
    ['too long', new Uint8Array(POSITION_BYTES_MAX + 1).fill(1, 0)],
    ['a beginning that is cut off', long.subarray(0, POSITION_BYTES_MAX - 1)],
  ])('has no position that is %s', (_, bytes) => {
    expect(long[0]).toBe(1);
    expect(listSkillCounts(catalogue, {}, bytes, 5)).toBe(undefined);
  });
});
