import { describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { SnapshotBuilder } from '../../../src/catalogue/snapshot/build.ts';
import { PREFIX_BYTES, SECTIONS } from '../../../src/catalogue/snapshot/layout.ts';
import { openSnapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotChangedError, SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../../src/catalogue/snapshot/source.ts';
import { headerLengthOf, refusalOf, withHeader, withSection } from '../../support/altered-snapshot.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { newestFirst } from '../../support/naive-catalogue.ts';
import { bytesOfJobs, FACTS, openedJobs } from '../../support/opened-jobs.ts';
import { IS_WHOLE } from '../../support/whole.ts';

const JOB: Job = {
  id: 'a',
  title: 'Engineer',
  company: 'Acme',
  companyDomain: 'acme.com' as CompanyDomain,
  location: null,
  department: null,
  remoteStatus: 'remote',
  employmentType: 'full_time',
  sourceUrl: 'https://acme.com/jobs/a',
  skills: [],
  firstObservedMs: 1000,
  lastObservedMs: 2000,
  status: 'active',
  closedAtMs: null,
  description: null,
  descriptionTruncated: false,
};

/** Small, but with every section in use. */
const JOBS: Job[] = [
  JOB,
  {
    ...JOB,
    id: 'b',
    companyDomainEvidence: 'links',
    companyAliases: ['acme.jobs' as CompanyDomain],
    location: 'Berlin',
    department: 'Sales',
    skills: ['C#', 'Rust'],
    description: 'Sells\nRust',
    lastObservedMs: 1500,
  },
  { ...JOB, id: 'c', companyDomain: null, status: 'closed', lastObservedMs: 9000, closedAtMs: 9500 },
];

describe('a snapshot gives back what was built', () => {
  for (const [seed, jobCount] of [
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 300],
    [5, 3000],
  ] as const) {
    it(`for ${jobCount} generated jobs, active first, newest first, ties by the digest of the id`, () => {
      const jobs = generatedJobs(new SeededChance(seed), { jobCount, moreCompanies: jobCount >> 2, closedPercent: 20 });
      const snapshot = openedJobs(jobs);
      const expected = [...jobs].sort(
        (a, b) => (a.status === b.status ? 0 : a.status === 'active' ? -1 : 1) || newestFirst(a, b),
      );
      const times = jobs.map((job) => job.lastObservedMs);
      expect(Array.from({ length: snapshot.rowCount }, (_, row) => snapshot.job(row))).toEqual(expected);
      expect(snapshot.activeCount).toBe(jobs.filter((job) => job.status === 'active').length);
      expect(snapshot.newestObservedMs).toBe(jobCount === 0 ? null : Math.max(...times));
      expect(snapshot.oldestObservedMs).toBe(jobCount === 0 ? null : Math.min(...times));
      expect(snapshot.facts).toEqual(FACTS);
    });
  }

  it('with texts longer than a piece of the file that is checked at a time', () => {
    const sourceUrl = `https://acme.com/${'x'.repeat(3_000_000)}`;
    const long = { ...JOB, sourceUrl, title: 'é'.repeat(900_000), lastObservedMs: 1999 };
    const snapshot = openedJobs([{ ...JOB, id: 'b' }, long]);
    expect(snapshot.job(1)).toEqual(long);
  });

  it('with more than 65536 different skills, whose codes then take 32 bits', () => {
    const jobs = Array.from({ length: 700 }, (_, i) => ({
      ...JOB,
      id: `job ${String(i).padStart(3, '0')}`,
      lastObservedMs: 2000 - i,
      firstObservedMs: 0,
      skills: Array.from({ length: 100 }, (_, s) => `skill ${i * 100 + s}`),
    }));
    const snapshot = openedJobs(jobs);
    expect(snapshot.skills.BYTES_PER_ELEMENT).toBe(4);
    expect(snapshot.job(699)).toEqual(jobs[699]);
  });

  it('and finds a company by its aliases, which its first job has, unless they are a domain or another has them too', () => {
    const domain = (text: string) => text as CompanyDomain;
    const aliases = (...texts: string[]) => ({ companyAliases: texts.map(domain) });
    const other = { company: 'Other', companyDomain: domain('other.com') };
    const snapshot = openedJobs([
      { ...JOB, ...aliases('acme.jobs', 'both.com', 'other.com') },
      { ...JOB, id: 'b', lastObservedMs: 3000, companyDomainEvidence: 'site', ...aliases('old.com', 'acme.jobs') },
      { ...JOB, id: 'c', ...other, ...aliases('both.com', 'a.com') },
      { ...JOB, id: 'd', companyDomain: null, company: 'Nameless', ...aliases('nameless.com') },
    ]);
    const found = (text: string) => {
      const company = snapshot.companyOf(domain(text));
      return company === undefined ? null : snapshot.domainOf(company);
    };
    expect(['acme.com', 'acme.jobs', 'old.com'].map(found)).toEqual(['acme.com', 'acme.com', 'acme.com']);
    expect(['other.com', 'a.com'].map(found)).toEqual(['other.com', 'other.com']);
    expect(['both.com', 'nameless.com', 'zzz.com', 'a.co'].map(found)).toEqual([null, null, null, null]);
    const jobs = Array.from({ length: 4 }, (_, row) => snapshot.job(row));
    expect(jobs.map(({ id, companyDomainEvidence }) => [id, companyDomainEvidence])[0]).toEqual(['b', 'site']);
    expect(new Map(jobs.map(({ id, companyAliases }) => [id, companyAliases]))).toEqual(
      new Map([
        ['a', undefined],
        ['b', ['acme.jobs', 'old.com']],
        ['c', ['a.com']],
        ['d', undefined],
      ]),
    );
  });

  it('and knows a company with closed jobs alone, and no other domain', () => {
    const snapshot = openedJobs([
      { ...JOB, status: 'closed', closedAtMs: 2000 },
      { ...JOB, id: 'b', companyDomain: null, company: 'x.com' },
    ]);
    expect(snapshot.activeCountOf(snapshot.companyOf('acme.com' as CompanyDomain)!)).toBe(0);
    expect(snapshot.companyOf('x.com' as CompanyDomain)).toBe(undefined);
    expect(snapshot.companyOf('acme.co' as CompanyDomain)).toBe(undefined);
    expect(snapshot.companyOf('zzz.com' as CompanyDomain)).toBe(undefined);
  });
});

describe('a build', () => {
  it('gives the same bytes for the same jobs in any order', () => {
    const chance = new SeededChance(7);
    const jobs = generatedJobs(chance, { jobCount: 800, moreCompanies: 60 });
    const bytes = bytesOfJobs(jobs);
    for (let i = 0; i < 5; i++) expect(bytesOfJobs(chance.shuffled(jobs)).equals(bytes)).toBe(true);
  });

  it('gives the same bytes for the jobs that are read back from a snapshot', () => {
    const bytes = bytesOfJobs(generatedJobs(new SeededChance(8), { jobCount: 500 }));
    const snapshot = openSnapshot(memorySource('test', bytes));
    const again = bytesOfJobs(Array.from({ length: snapshot.rowCount }, (_, row) => snapshot.job(row)));
    expect(again.equals(bytes)).toBe(true);
  });

  it('names the job that has an id already and keeps that one', () => {
    const builder = new SnapshotBuilder();
    const added = ['x', 'y', 'x', 'z', 'z', 'y'].map((id) => builder.add({ ...JOB, id }));
    expect(added).toEqual([undefined, undefined, 0, undefined, 2, 1]);
    expect(builder.rowCount).toBe(3);
  });

  it('has a content digest that facts do not change and jobs do', () => {
    const digestOf = (jobs: Job[], builtAtMs: number): string => {
      const builder = new SnapshotBuilder();
      for (const job of jobs) builder.add(job);
      let handed = '';
      const built = builder.finish((digest) => {
        handed = digest;
        return { ...FACTS, builtAtMs };
      });
      const snapshot = openSnapshot(memorySource('test', Buffer.concat([...built.chunks])));
      expect([snapshot.contentDigest, handed]).toEqual([built.contentDigest, built.contentDigest]);
      expect(snapshot.byteLength).toBe(built.byteLength);
      return built.contentDigest;
    };
    expect(digestOf(JOBS, 1)).toMatch(/^[0-9a-f]{64}$/);
    expect(digestOf(JOBS, 1)).toBe(digestOf(JOBS, 1e15));
    expect(digestOf(JOBS, 1)).not.toBe(digestOf(JOBS.slice(1), 1));
    expect(digestOf([JOB], 1)).not.toBe(digestOf([{ ...JOB, status: 'closed', closedAtMs: 2000 }], 1));
  });
});

describe('a file that is not exactly a snapshot is refused in one line', () => {
  const bytes = bytesOfJobs(JOBS, { ...FACTS, skillsVersion: 'long, so that an altered header has room' });
  const header = bytes.subarray(0, PREFIX_BYTES + headerLengthOf(bytes));

  it('when any one bit is flipped', () => {
    const altered = Uint8Array.from(bytes);
    for (let bit = 0; bit < bytes.length * 8; bit += IS_WHOLE ? 1 : 7) {
      altered[bit >>> 3]! ^= 1 << (bit & 7);
      const refusal = refusalOf(altered);
      if (!/^catalogue\.bin: .+$/.test(refusal)) expect.fail(`bit ${bit}: ${refusal}`);
      altered[bit >>> 3]! ^= 1 << (bit & 7);
    }
    expect(refusalOf(altered)).toBe('accepted');
  });

  it('when it is cut at any length or continued', () => {
    for (let length = 0; length < bytes.length; length++) {
      const refusal = refusalOf(bytes.subarray(0, length));
      if (!/^catalogue\.bin: .+$/.test(refusal)) expect.fail(`${length} bytes: ${refusal}`);
    }
    for (const more of [1, 8, bytes.length, bytes.length * 99]) {
      expect(refusalOf(Buffer.concat([bytes, new Uint8Array(more)]))).toMatch(/^catalogue\.bin: has \d+ bytes after/);
    }
  });

  it('when it lies at any place in memory it is still read', () => {
    for (let shift = 0; shift < 9; shift++) {
      const moved = new Uint8Array(bytes.length + shift).subarray(shift);
      moved.set(bytes);
      expect(refusalOf(moved)).toBe('accepted');
    }
  });

  const resealed: [string, Uint8Array, RegExp][] = [
    ['its magic is another', Buffer.from('{"id":"a"}'), /is not a snapshot/],
    ['it has nothing but its header', header, /cut off/],
    [
      'its version is newer',
      Uint8Array.from(bytes, (byte, i) => (i === 8 ? 99 : byte)),
      /has format version 99; .* \d+$/,
    ],
    ['its header is said to be huge', Uint8Array.from(bytes, (byte, i) => (i === 15 ? 0x7f : byte)), /damaged header/],
    [
      'it has a billion rows',
      withHeader(bytes, (h) => {
        h.rows = 1e9;
        h.facts = { ...FACTS, skillsVersion: '' };
      }),
      /does not describe/,
    ],
    [
      'it has a row too many',
      withHeader(bytes, (h) => {
        h.rows = 4;
      }),
      /elements in/,
    ],
    [
      'it has rows -1',
      withHeader(bytes, (h) => {
        h.rows = -1;
        h.facts = { ...FACTS, skillsVersion: '' };
      }),
      /does not describe/,
    ],
    [
      'it has more active rows than rows',
      withHeader(bytes, (h) => {
        h.active = 4;
      }),
      /more active rows/,
    ],
    [
      'it has a fact too many',
      withHeader(bytes, (h) => {
        h.facts = { ...FACTS, skillsVersion: '', x: 1 };
      }),
      /does not describe/,
    ],
    [
      'its facts lack one',
      withHeader(bytes, (h) => {
        delete h.facts.builtAtMs;
      }),
      /does not describe/,
    ],
    [
      'a section is missing',
      withHeader(bytes, (h) => {
        h.sections.pop();
      }),
      /other sections/,
    ],
    [
      'two sections are exchanged',
      withHeader(bytes, (h) => {
        h.sections.reverse();
      }),
      /other sections/,
    ],
    [
      'a section has another type',
      withHeader(bytes, (h) => {
        h.sections[2]!.type = 'f64';
      }),
      /other sections/,
    ],
    [
      'sections overlap',
      withHeader(bytes, (h) => {
        h.sections[1]!.offset = h.sections[0]!.offset;
      }),
      /wrong place/,
    ],
    [
      'a section lies outside',
      withHeader(bytes, (h) => {
        h.sections.at(-1)!.byteLength = 99_999;
        h.facts = { ...FACTS, skillsVersion: '' };
      }),
      /ends past the end/,
    ],
    [
      'a section ends between elements',
      withHeader(bytes, (h) => {
        h.sections[0]!.byteLength -= 1;
      }),
      /wrong place/,
    ],
    [
      'active rows are not in order',
      withHeader(bytes, (h) => {
        h.active = 3;
      }),
      /elements in closedAt/,
    ],
    ...(
      [
        'title',
        'employer',
        'location',
        'department',
        'remoteStatus',
        'employmentType',
        'skills',
        'employerCompany',
        'employerEvidence',
        'companyOrder',
        'companyHasDomain',
      ] as const
    ).map((name): [string, Uint8Array, RegExp] => [
      `a code in ${name} is out of range`,
      withSection(bytes, name, (section) => section.setUint8(0, 200)),
      /is out of range|neither domain/,
    ]),
    ['an alias finds no company', withSection(bytes, 'aliasCompany', (s) => s.setUint8(0, 200)), /finds no company/],
    [
      'an employer without a domain has evidence for it',
      withSection(bytes, 'employerEvidence', (s) => s.setUint8(s.byteLength - 1, 3)),
      /do not go together/,
    ],
    ...SECTIONS.filter(({ name }) => /(?<!Block)Offsets$/.test(name)).flatMap(
      ({ name }): [string, Uint8Array, RegExp][] => [
        [
          `${name} does not start at 0`,
          withSection(bytes, name, (section) => section.setUint32(0, 1, true)),
          /wrong ends|out of order/,
        ],
        [
          `${name} does not end at the end`,
          withSection(bytes, name, (section) => section.setUint32(section.byteLength - 4, 77_777, true)),
          /wrong ends/,
        ],
      ],
    ),
    ['skillOffsets go back', withSection(bytes, 'skillOffsets', (s) => s.setUint32(4, 9, true)), /out of order/],
    ['coldOffsets go back', withSection(bytes, 'coldOffsets', (s) => s.setUint32(8, 0, true)), /out of order/],
    [
      'a time is no number',
      withSection(bytes, 'lastObserved', (s) => s.setFloat64(0, Number.NaN, true)),
      /times are not/,
    ],
    [
      'a time is endless',
      withSection(bytes, 'firstObserved', (s) => s.setFloat64(0, -Infinity, true)),
      /times are not/,
    ],
    ['closings name an active row', withSection(bytes, 'closings', (s) => s.setUint32(0, 0, true)), /closings are not/],
    [
      'a job closed before it was observed',
      withSection(bytes, 'closedAt', (s) => s.setFloat64(0, 1, true)),
      /closings/,
    ],
    ['a closing has no time', withSection(bytes, 'closedAt', (s) => s.setFloat64(0, Number.NaN, true)), /closings/],
    [
      'a description lies in no block',
      withSection(bytes, 'descriptionPlaces', (s) => s.setUint32(12, 7, true)),
      /descriptionPlaces out of range/,
    ],
    [
      'a description is longer than a block may be',
      withSection(bytes, 'descriptionPlaces', (s) => s.setUint32(20, 0x7fffffff, true)),
      /descriptionPlaces out of range/,
    ],
    [
      'a row without a description has a place',
      withSection(bytes, 'descriptionPlaces', (s) => s.setUint32(4, 1, true)),
      /descriptionPlaces out of range/,
    ],
    [
      'blocks do not start at 0',
      withSection(bytes, 'descriptionBlockOffsets', (s) => s.setFloat64(0, 1, true)),
      /descriptionBlockOffsets out of order/,
    ],
    [
      'blocks end elsewhere',
      withSection(bytes, 'descriptionBlockOffsets', (s) => s.setFloat64(8, 5, true)),
      /wrong ends in descriptionBlockOffsets/,
    ],
    [
      'a block ends nowhere',
      withSection(bytes, 'descriptionBlockOffsets', (s) => s.setFloat64(8, Number.NaN, true)),
      /descriptionBlockOffsets out of order/,
    ],
    ['an event is of no job', withSection(bytes, 'historyRows', (s) => s.setUint32(0, 3, true)), /event of no job/],
    ['an event is of no kind', withSection(bytes, 'historyKinds', (s) => s.setUint8(0, 4)), /event of no kind/],
    [
      'an event has no time',
      withSection(bytes, 'historyTimes', (s) => s.setFloat64(0, Number.NaN, true)),
      /event without a time/,
    ],
    [
      'an event of a job is not there',
      withSection(bytes, 'historyPositions', (s) => s.setUint32(0, 4, true)),
      /historyPositions out of range/,
    ],
    [
      'an event of a company is not there',
      withSection(bytes, 'historyCompanyPositions', (s) => s.setUint32(0, 4, true)),
      /historyCompanyPositions out of range/,
    ],
    [
      'a public sample is a closed job',
      withSection(bytes, 'publicPool', (s) => s.setUint32(0, 3, true)),
      /public sample is no active job/,
    ],
    [
      'compressed blocks do not say what they hold',
      withHeader(bytes, (h) => {
        for (const section of h.sections) delete section.content;
      }),
      /other sections/,
    ],
    ['skills are not in order', withSection(bytes, 'skillText', (s) => s.setUint8(0, 0x7a)), /skills are not in order/],
    [
      'companies are not in order',
      withSection(bytes, 'companyKeyText', (s) => s.setUint8(0, 0x7a)),
      /companies are not/,
    ],
    [
      'a company has no job',
      withSection(
        bytesOfJobs([JOB, { ...JOB, id: 'b', companyDomain: 'b.com' as CompanyDomain }]),
        'employerCompany',
        (s) => s.setUint32(0, s.getUint32(4, true), true),
      ),
      /no job/,
    ],
  ];
  for (const [title, altered, reason] of resealed) {
    it(`when ${title}, though its checksums fit`, () => {
      expect(refusalOf(altered)).toMatch(reason);
      expect(refusalOf(altered)).toMatch(/^catalogue\.bin: [^\n]+$/);
    });
  }

  it('when it is larger than is read at all, before any of it is read', () => {
    const source = { ...memorySource('big', bytes), byteLength: 2 ** 36 + 1, read: () => expect.fail('read') };
    expect(() => openSnapshot(source)).toThrow(/^big: is 68719476737 bytes long/);
  });

  it('and its source is closed', () => {
    let closed = 0;
    const source = { ...memorySource('x', bytes.subarray(1)), close: () => closed++ };
    expect(() => openSnapshot(source)).toThrow(SnapshotError);
    expect(closed).toBe(1);
  });
});

describe('a row that is read later', () => {
  it('is refused when the source has changed, is shorter, or gives other places', () => {
    const bytes = bytesOfJobs(JOBS);
    let isUnchanged = true;
    let read = (offset: number, length: number): Uint8Array => bytes.subarray(offset, offset + length);
    const source = {
      ...memorySource('live', bytes),
      isUnchanged: () => isUnchanged,
      read: (o: number, l: number) => read(o, l),
      readTransient: (o: number, l: number) => read(o, l),
    };
    const snapshot = openSnapshot(source);
    expect(snapshot.cold.rowAt(0)).toEqual({ id: 'a', sourceUrl: JOB.sourceUrl });
    isUnchanged = false;
    expect(() => snapshot.cold.rowAt(0)).toThrow(SnapshotChangedError);
    isUnchanged = true;
    read = () => new Uint8Array(0);
    expect(() => snapshot.cold.rowAt(0)).toThrow(SnapshotChangedError);
    read = (_, length) => new Uint8Array(length).fill(0xff);
    expect(() => snapshot.cold.rowAt(0)).toThrow(SnapshotChangedError);
    // An id behind its URL, and a row behind the next one.
    for (const swapped of [1, 2]) {
      read = (offset, length) => {
        const found = Uint32Array.from(
          new Uint32Array(Uint8Array.from(bytes.subarray(offset, offset + length)).buffer),
        );
        found.set([found[swapped]!, found[swapped - 1]!], swapped - 1);
        return new Uint8Array(found.buffer);
      };
      expect(() => snapshot.cold.rowsAt([0, 1])).toThrow(SnapshotChangedError);
    }
  });
});
