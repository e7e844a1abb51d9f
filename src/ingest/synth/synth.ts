/**
 * A synthetic catalogue that looks like a real one: few large companies and many small ones, titles from seniority,
 * speciality and role, real places, skills that belong to the discipline, fresh and stale observations. The words are
 * in vocabulary.ts.
 *
 * Invariant: the records follow from the options alone, on every runtime. Only arithmetic that IEEE 754 defines exactly
 * is used; `Math.log` and `Math.pow` may differ between engines in the last bit. A job is the same with descriptions on
 * and off: with them its skills are in the text, without them in `skills`. The order in which a record draws its random
 * numbers is part of the seed's meaning.
 * Cost: memory of the companies and the vocabulary, whatever the number of jobs; time per job constant.
 */
import { DAY_MS } from '../../base/durations.ts';
import { SeededRandom } from '../../base/seeded-random.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import type { NativeRecord } from '../native.ts';
import { buildCompanies, type Company, companyWeights } from './companies.ts';
import { descriptionOf } from './description.ts';
import { type Discipline, loadVocabulary, type Vocabulary } from './vocabulary.ts';
import { decayWeights, WeightedDraw, zipfWeights } from './weighted-draw.ts';

export interface SynthOptions {
  /** Records to make, 0 .. JOB_COUNT_MAX. */
  readonly jobs: number;
  /** Any integer; its low 32 bits count. */
  readonly seed: number;
  /** Nothing is observed after this moment. */
  readonly asOfMs: number;
  /** Texts of 600 to 900 characters, some of them HTML, instead of `skills`; `beside skills` gives both. */
  readonly descriptions: boolean | 'beside skills';
}

/** Bound of the exact arithmetic behind ids: ID_STEP times this stays below 2^53. */
export const JOB_COUNT_MAX = 100_000_000;

/** 36^7: ids have seven digits to the base 36 behind their prefix. */
const ID_COUNT = 78_364_164_096;
/** Coprime to 36, so that every index below ID_COUNT has a distinct id; JOB_COUNT_MAX times it is exact. */
const ID_STEP = 56_598_313;

/** Weights where the work is done at a desk, and where it is done on the spot. */
const EMPLOYMENT: readonly (readonly [EmploymentType, desk: number, spot: number])[] = [
  ['full_time', 70, 56],
  ['unknown', 18, 17],
  ['contract', 8, 4],
  ['part_time', 2, 17],
  ['temporary', 2, 6],
];
/** Disciplines with a smaller remote share than this are work on the spot. */
const DESK_REMOTE_MIN = 0.13;

/** Days since the last observation of an active job that was seen this week: most were seen today or yesterday. */
const WEEK_WEIGHTS = [46, 22, 11, 8, 6, 4, 3];
const SEEN_THIS_WEEK_SHARE = 0.88;
const CLOSED_SHARE = 0.17;
const INTERNSHIP_SHARE = 0.03;

const twoDigits = (count: number): string => (count < 10 ? `0${count}` : String(count));

/** Date-times from day numbers, each day formatted once. */
class Days {
  readonly #texts = new Map<number, string>();

  /** `YYYY-MM-DD`; day 0 is 1970-01-01. */
  date(day: number): string {
    let text = this.#texts.get(day);
    if (text === undefined) {
      text = new Date(day * DAY_MS).toISOString().slice(0, 10);
      this.#texts.set(day, text);
    }
    return text;
  }

  midnight(day: number): string {
    return `${this.date(day)}T00:00:00Z`;
  }

  second(day: number, second: number): string {
    const minute = Math.floor(second / 60);
    const clock = `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:${twoDigits(second % 60)}`;
    return `${this.date(day)}T${clock}Z`;
  }
}

interface Place {
  readonly city: string;
  readonly region: string;
  readonly country: string;
}

function weightedPlaces({ countries }: Vocabulary): { places: Place[]; weights: number[] } {
  const places: Place[] = [];
  const weights: number[] = [];
  for (const { cities, country, weight } of countries) {
    const shares = zipfWeights(cities.length, 1);
    const total = shares.reduce((sum, share) => sum + share, 0);
    for (const [rank, { city, region }] of cities.entries()) {
      places.push({ city, region, country });
      weights.push((weight * shares[rank]!) / total);
    }
  }
  return { places, weights };
}

/** The records of one run. Each method draws from `#random` in a fixed order; see the invariant above. */
class RecordMaker {
  readonly #options: SynthOptions;
  readonly #vocabulary: Vocabulary;
  readonly #random: SeededRandom;
  /** Seeded for each job, so that texts affect no other draw. */
  readonly #wording: SeededRandom;
  readonly #days = new Days();
  /** Day number of `asOfMs`. */
  readonly #today: number;
  readonly #places: readonly Place[];
  readonly #companies: readonly Company[];
  readonly #idOffset: number;

  readonly #placeDraw: WeightedDraw;
  readonly #disciplineDraw: WeightedDraw;
  readonly #companyDraw: WeightedDraw;
  /** By discipline. */
  readonly #skillDraws: readonly WeightedDraw[];
  readonly #departments: readonly (readonly string[])[];
  readonly #departmentDraw: WeightedDraw;
  readonly #seniorityDraw: WeightedDraw;
  readonly #deskDraw = new WeightedDraw(EMPLOYMENT.map(([, desk]) => desk));
  readonly #spotDraw = new WeightedDraw(EMPLOYMENT.map(([, , spot]) => spot));
  readonly #weekDraw = new WeightedDraw(WEEK_WEIGHTS);
  readonly #staleDraw = new WeightedDraw(decayWeights(120, 0.96)); // mean 24 days, behind the first week
  readonly #closedDraw = new WeightedDraw(decayWeights(400, 0.985)); // mean 66 days, behind the third
  readonly #ageDraw = new WeightedDraw(decayWeights(365, 0.973)); // mean 36 days from first to last observation

  constructor(options: SynthOptions, vocabulary: Vocabulary) {
    const { asOfMs, jobs, seed } = options;
    const { departmentAreas, disciplines, seniorities } = vocabulary;
    const { places, weights } = weightedPlaces(vocabulary);
    this.#options = options;
    this.#vocabulary = vocabulary;
    this.#random = new SeededRandom(seed, 1);
    this.#wording = new SeededRandom(seed, 2);
    this.#today = Math.floor(asOfMs / DAY_MS);
    this.#places = places;
    this.#placeDraw = new WeightedDraw(weights);
    this.#disciplineDraw = new WeightedDraw(disciplines.map(({ weight }) => weight));
    this.#skillDraws = disciplines.map(({ skills }) => new WeightedDraw(zipfWeights(skills.length, 3)));
    this.#departments = disciplines.map(({ departments }) => [
      ...departments,
      ...departmentAreas.map((area) => `${departments[0]!} - ${area}`),
    ]);
    this.#departmentDraw = new WeightedDraw(zipfWeights(this.#departments[0]!.length, -0.4));
    this.#seniorityDraw = new WeightedDraw(seniorities.map(({ weight }) => weight));
    this.#companies = buildCompanies(this.#random, vocabulary, jobs, this.#placeDraw, this.#disciplineDraw);
    this.#companyDraw = new WeightedDraw(companyWeights(this.#companies.length));
    this.#idOffset = this.#random.below(0x1_0000_0000);
  }

  record(index: number): NativeRecord {
    const random = this.#random;
    const company = this.#companies[this.#companyDraw.next(random)]!;
    const disciplineIndex = random.unit() < 0.3 ? company.focus : this.#disciplineDraw.next(random);
    const discipline = this.#vocabulary.disciplines[disciplineIndex]!;
    const isInternship = random.unit() < INTERNSHIP_SHARE;
    const title = this.#title(discipline, isInternship);
    const remote = this.#remoteStatus(discipline);
    const employment = this.#employmentType(discipline, isInternship);
    const location = this.#location(company, remote);
    const department =
      random.unit() < 0.14 ? null : this.#departments[disciplineIndex]![this.#departmentDraw.next(random)]!;
    const skills = this.#skills(disciplineIndex);

    const closed = random.unit() < CLOSED_SHARE;
    const lastDay = this.#today - this.#unseenDays(closed);
    const ageDays = this.#ageDraw.next(random);
    const second = random.below(86_400);
    const lastObserved = this.#days.midnight(lastDay);
    const code = ((index * ID_STEP + this.#idOffset) % ID_COUNT).toString(36).padStart(7, '0');
    const record: NativeRecord = {
      id: `job_${code}`,
      title,
      company: company.name,
      company_domain: company.domain,
      location,
      department,
      remote_status: remote,
      employment_type: employment,
      source_url: `${company.urlBase}${hex(random.bits())}-${code}`,
      first_observed_at: ageDays === 0 ? lastObserved : this.#days.second(lastDay - ageDays, second),
      last_observed_at: lastObserved,
      status: closed ? 'closed' : 'active',
    };
    const { descriptions } = this.#options;
    if (descriptions !== true) record.skills = skills;
    if (descriptions !== false) {
      this.#wording.reseed(this.#options.seed, index + 3);
      const { texts } = this.#vocabulary;
      record.description = descriptionOf(this.#wording, texts, company.name, title, discipline.duties, skills);
    }
    return record;
  }

  #title({ roles, specialities }: Discipline, isInternship: boolean): string {
    const { areas, internTitle, qualifiers, seniorities } = this.#vocabulary;
    const random = this.#random;
    const seniority = isInternship ? internTitle : seniorities[this.#seniorityDraw.next(random)]!.title;
    const role = random.pick(roles);
    const speciality = random.pick(specialities);
    const detail = random.unit();
    let title = detail < 0.12 ? role : `${speciality} ${role}`;
    if (seniority !== '') title = `${seniority} ${title}`;
    if (detail > 0.5) title += `, ${random.pick(areas)}`;
    if (detail > 0.92) title += ` (${random.pick(qualifiers)})`;
    return title;
  }

  #remoteStatus({ remote }: Discipline): RemoteStatus {
    const draw = this.#random.unit();
    if (draw < remote * 0.6) return 'remote';
    if (draw < remote * 1.1) return 'hybrid';
    return this.#random.unit() < 0.45 ? 'on_site' : 'unknown';
  }

  #employmentType({ remote }: Discipline, isInternship: boolean): EmploymentType {
    if (isInternship) return this.#random.unit() < 0.85 ? 'internship' : 'unknown';
    const draw = remote < DESK_REMOTE_MIN ? this.#spotDraw : this.#deskDraw;
    return EMPLOYMENT[draw.next(this.#random)]![0];
  }

  #location(company: Company, remote: RemoteStatus): string | null {
    const random = this.#random;
    const home = random.below(10);
    const place =
      this.#places[
        home < 5 ? company.places[0]! : home < 8 ? company.places[home - 5]! : this.#placeDraw.next(random)
      ]!;
    const other = this.#places[company.places[1]!]!;
    const form = random.below(100);
    if (remote === 'remote') {
      if (form < 35) return `Remote - ${place.country}`;
      if (form < 55) return `Remote - ${random.pick(this.#vocabulary.remoteRegions)}`;
      if (form < 65) return 'Remote';
      if (form < 75) return `${place.city}, ${place.country} (Remote)`;
    }
    if (form < 55) {
      return place.country === 'United States' ? `${place.city}, ${place.region}` : `${place.city}, ${place.country}`;
    }
    if (form < 75) return `${place.city}, ${place.region}, ${place.country}`;
    if (form < 85) return place.city;
    if (form < 91) return `${place.city}, ${place.country}; ${other.city}, ${other.country}`;
    if (form < 94) return place.country;
    if (form < 97) return `${place.city} or ${other.city}`;
    return null;
  }

  /** Two to six different skills; a repeated draw is dropped, but the second skill always differs from the first. */
  #skills(disciplineIndex: number): string[] {
    const random = this.#random;
    const known = this.#vocabulary.disciplines[disciplineIndex]!.skills;
    const count = 2 + Math.min(random.below(4), random.below(6));
    const draw = this.#skillDraws[disciplineIndex]!;
    const skills: string[] = [];
    for (let i = 0; i < count; i++) {
      const skill = known[draw.next(random)]!;
      if (!skills.includes(skill)) skills.push(skill);
    }
    if (skills.length === 1) skills.push(known[skills[0] === known[0] ? 1 : 0]!);
    return skills;
  }

  /** Days since the last observation. */
  #unseenDays(closed: boolean): number {
    const random = this.#random;
    if (closed) return 8 + this.#closedDraw.next(random) + random.below(14);
    return random.unit() < SEEN_THIS_WEEK_SHARE ? this.#weekDraw.next(random) : 7 + this.#staleDraw.next(random);
  }
}

/**
 * The records, one at a time, in no particular order.
 * @throws RangeError before the first record, when an option is out of its range
 */
export function* synthRecords(options: SynthOptions): Generator<NativeRecord> {
  const { asOfMs, jobs, seed } = options;
  if (!Number.isInteger(jobs) || jobs < 0 || jobs > JOB_COUNT_MAX) {
    throw new RangeError(`jobs must be a whole number from 0 to ${JOB_COUNT_MAX}`);
  }
  if (!Number.isInteger(seed)) throw new RangeError('seed must be a whole number');
  if (!(asOfMs >= 1000 * DAY_MS) || asOfMs > 253_402_300_799_999) {
    throw new RangeError('asOfMs must lie between 1972 and the end of the year 9999');
  }
  const maker = new RecordMaker(options, loadVocabulary());
  for (let index = 0; index < jobs; index++) yield maker.record(index);
}

/** Eight hexadecimal digits of 32 bits. */
function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}
