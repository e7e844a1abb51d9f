/**
 * Explicit tables of the sources' words for employment and workplace, applied only to fields about exactly that, never
 * to a title or description. A word in no table is unknown.
 */
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';

type Kind = EmploymentType | 'permanent';

/**
 * Phrases in the form that `plain` gives. `permanent` describes how long a job lasts, not how it is held, so it is not
 * in the closed list; its phrases are here because some contain a word of another row ("unlimited contract").
 */
const PHRASES: Readonly<Record<Exclude<Kind, 'unknown'>, string>> = {
  full_time: `
    full time, fulltime, vollzeit, temps plein, plein temps, temps complet, tiempo completo, jornada completa,
    tempo pleno, tempo integral, tempo inteiro, tempo completo, período integral, voltijd, voltijds, fulltid, heltid,
    fuldtid, täysaikainen, kokoaikainen, pełny etat, plný úvazek, tam zamanlı, полная занятость, полный рабочий день,
    повна зайнятість, toàn thời gian, penuh waktu, دوام كامل, norma întreagă, teljes munkaidő`,
  part_time: `
    part time, parttime, teilzeit, temps partiel, mi temps, tiempo parcial, media jornada, jornada parcial,
    tempo parcial, meio período, deltijd, deeltijd, deltid, osa aikainen, niepełny etat, część etatu, zkrácený úvazek,
    yarı zamanlı, частичная занятость, часткова зайнятість, неполный рабочий день, bán thời gian, paruh waktu,
    دوام جزئي, minijob, mini job`,
  contract: `
    contract, contractor, contractors, independent contractor, freelance, freelancer, freelancers, contract to hire,
    freelancer longterm, 1099, corp to corp, c2c, b2b, freiberuflich, freie mitarbeit, freier mitarbeiter,
    selbstständig, prestataire, indépendant, indépendante, autónomo, freelancing, autônomo, libero professionista,
    partita iva, zzp, umowa zlecenie, umowa o dzieło, kontrakt b2b`,
  temporary: `
    temporary, temp, temps, fixed term, fixed term contract, fixedterm, fixed time, seasonal, interim, limited term,
    time limited, maternity cover, parental leave cover, befristet, befristete anstellung, befristeter vertrag,
    zeitarbeit, aushilfe, cdd, contrat à durée déterminée, durée déterminée, intérim, saisonnier, tijdelijk,
    bepaalde tijd, temporal, contrato temporal, temporário, tempo determinato, a termine, vikariat, visstid,
    tidsbegränsad, määräaikainen, umowa na czas określony, временная работа`,
  internship: `
    internship, internships, intern, interns, co op, coop, praktikum, praktikant, praktikantin, pflichtpraktikum,
    stage, stagiaire, stagiair, stageplaats, prácticas, becario, beca, pasantía, estágio, estagiário, tirocinio,
    stagista, staż, praktyka, praktyki, praktik, harjoittelu, staj, stáž, стажировка, стажування, thực tập,
    thực tập sinh, magang, تدريب`,
  permanent: `
    unlimited contract, permanent contract, indefinite contract, open ended contract, contract of employment,
    employment contract, contrat à durée indéterminée, durée indéterminée, cdi, contrato indefinido,
    tempo indeterminato, contratto a tempo indeterminato, unbefristet, unbefristeter vertrag, umowa o pracę,
    non contract, no contract, temp to perm, temporary to permanent`,
};

/** Term -> kind, from lists that are written as text, separated by commas. */
const kindsOf = <Kind extends string>(lists: Readonly<Record<Kind, string>>): ReadonlyMap<string, Kind> =>
  new Map(
    Object.entries<string>(lists).flatMap(([kind, terms]) =>
      terms.split(',').map((term) => [term.trim(), kind as Kind] as const),
    ),
  );

/** Phrases in scripts without blanks between words: they count anywhere in the text. */
const UNSPACED: readonly (readonly [phrase: string, kind: Kind])[] = [
  ['フルタイム', 'full_time'],
  ['全职', 'full_time'],
  ['全職', 'full_time'],
  ['풀타임', 'full_time'],
  ['パートタイム', 'part_time'],
  ['アルバイト', 'part_time'],
  ['兼职', 'part_time'],
  ['兼職', 'part_time'],
  ['파트타임', 'part_time'],
  ['業務委託', 'contract'],
  ['契約社員', 'temporary'],
  ['派遣', 'temporary'],
  ['계약직', 'temporary'],
  ['インターン', 'internship'],
  ['实习', 'internship'],
  ['實習', 'internship'],
  ['인턴', 'internship'],
];

/** Longest term, characters. A longer text is no term, and normalizing it could take seconds. */
const TERM_LENGTH_MAX = 500;

/** Lower case, `-`, `_` and `.` as blanks, one blank at a time; empty for a text that is too long. */
function plain(text: string): string {
  if (text.length > TERM_LENGTH_MAX) return '';
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\-_.‐‑–—]+/g, ' ')
    .trim();
}

const KIND_OF: ReadonlyMap<string, Kind> = kindsOf(PHRASES);

/** Longest first, so that "unlimited contract" matches before "contract". */
const PHRASE = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${[...KIND_OF.keys()].sort((a, b) => b.length - a.length).join('|')})(?![\\p{L}\\p{N}])`,
  'gu',
);

/** Texts of such fields are few, short and repeated. Beyond this many memoized ones, all are dropped. */
const MEMOIZED_MAX = 10_000;
const memoized = new Map<string, EmploymentType>();

function lookedUp(text: string): EmploymentType {
  const kinds = new Set<Kind>();
  const words = plain(text);
  for (const [phrase] of words.matchAll(PHRASE)) kinds.add(KIND_OF.get(phrase)!);
  for (const [phrase, kind] of UNSPACED) if (words.includes(phrase)) kinds.add(kind);
  const special = (['contract', 'temporary', 'internship'] as const).filter((kind) => kinds.has(kind));
  if (special.length > 0) return special.length === 1 ? special[0]! : 'unknown';
  if (kinds.has('full_time') === kinds.has('part_time')) return 'unknown';
  return kinds.has('full_time') ? 'full_time' : 'part_time';
}

/**
 * The employment type that the words of one field (or of a list of such words) name. How a job is held (contract,
 * temporary, internship) says more than its hours, so "full-time internship" is an internship; two that exclude each
 * other ("full-time or part-time", "contract, internship") are unknown, as are "permanent" and "regular" alone.
 */
export function employmentTypeOf(...words: readonly (string | null | undefined)[]): EmploymentType {
  const text = words.filter((word) => word).join(' / ');
  if (text === '' || text.length > TERM_LENGTH_MAX) return 'unknown';
  const known = memoized.get(text);
  if (known !== undefined) return known;
  const type = lookedUp(text);
  if (memoized.size >= MEMOIZED_MAX) memoized.clear();
  memoized.set(text, type);
  return type;
}

const WORKPLACES: ReadonlyMap<string, RemoteStatus> = kindsOf({
  remote: `
      remote, fully remote, full remote, fully, 100% remote, remote only, remote first, telecommute, remote national,
      work from home, wfh, virtual, télétravail, homeoffice, home office, remoto`,
  hybrid: `
      hybrid, hybrid remote, partially remote, partly remote, hybride, híbrido, flexible hybrid`,
  on_site: `
      on site, onsite, on location, in office, in person, office, not remote, in the office, vor ort, sur site,
      presencial, office based, on premise, fully onsite, fully on site`,
});

/** The remote status that a field about the workplace names, whole; a note in brackets does not count. */
export function workplaceOf(text: string | null | undefined): RemoteStatus {
  if (!text) return 'unknown';
  return WORKPLACES.get(plain(text.replace(/\([^()]*\)/g, ' '))) ?? 'unknown';
}
