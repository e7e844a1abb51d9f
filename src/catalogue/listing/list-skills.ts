/**
 * Pages of skills (`GET /v1/skills`, siblings §4): those that active jobs have, most jobs first, then by text. A
 * position is the order key of the last skill of a page, so that it stays valid after a reload:
 *
 *   byte 0   0 = the whole text follows, 1 = its beginning
 *        1   active jobs, Uint32, big-endian
 *        5   UTF-8 of the skill, at most TEXT_BYTES_MAX; or its first PREFIX_BYTES and the first 16 bytes of its SHA-256
 *
 * For a shortened text, the digest finds the skill among those with as many jobs and the same prefix; if it was
 * removed, the list continues with the first of them.
 */
import { sha256Latin1 } from '../../base/digest.ts';
import { firstWhere } from '../../base/first-where.ts';
import type { Catalogue } from '../catalogue.ts';
import { POSITION_BYTES_MAX } from '../limits.ts';
import type { TextColumn } from '../snapshot/text-column.ts';
import { compareText } from '../snapshot/text-order.ts';
import { comparedText, termsOf } from '../terms.ts';
import type { SkillCount, SkillFilters, SkillPage } from './listing-answers.ts';
import { NO_SKILLS, type SkillTable } from './skill-table.ts';

const TEXT_START = 5;
const TEXT_BYTES_MAX = POSITION_BYTES_MAX - TEXT_START;
const DIGEST_BYTES = 16;
const PREFIX_BYTES = TEXT_BYTES_MAX - DIGEST_BYTES;

/**
 * @param after where the page before ended; `undefined` = from the beginning
 * @param limit at least 1
 * @returns `undefined` when `after` is no position
 */
export function listSkillCounts(
  catalogue: Catalogue,
  filters: SkillFilters,
  after: Uint8Array | undefined,
  limit: number,
): SkillPage | undefined {
  const { listing, snapshot } = catalogue;
  const { skillNames } = snapshot;
  const { company, department, q } = filters;
  const code = company === undefined ? undefined : snapshot.companyOf(company);
  const isUnknown = company !== undefined && code === undefined;
  const compared = department === undefined ? undefined : comparedText(department);
  const table = isUnknown ? NO_SKILLS : listing.skillTableOf(code, compared);
  const start = after === undefined ? 0 : firstAfter(table, skillNames, after);
  if (start === undefined) return undefined;
  const terms = q === undefined ? [] : termsOf(q);
  const places: number[] = [];
  for (let place = start; place < table.codes.length && places.length <= limit; place++) {
    if (terms.length === 0) places.push(place);
    else {
      const compared = skillNames.comparedOf(table.codes[place]!);
      if (terms.every((term) => compared.includes(term))) places.push(place);
    }
  }
  const skills = places.slice(0, limit).map(
    (place): SkillCount => ({
      skill: skillNames.textOf(table.codes[place]!),
      activeJobs: table.jobCounts[place]!,
      companies: table.companyCounts[place]!,
    }),
  );
  return { skills, next: places.length > limit ? positionAt(table, skillNames, places[limit - 1]!) : null };
}

/** The first place after a position; `undefined` when the bytes are no position. */
function firstAfter({ codes, jobCounts }: SkillTable, skillNames: TextColumn, after: Uint8Array): number | undefined {
  const isWhole = after[0] === 0;
  if (after.length < TEXT_START || after.length > POSITION_BYTES_MAX || after[0]! > 1) return undefined;
  if (!isWhole && after.length !== POSITION_BYTES_MAX) return undefined;
  const count = new DataView(after.buffer, after.byteOffset).getUint32(1);
  if (count === 0) return undefined;
  const text = after.subarray(TEXT_START, isWhole ? after.length : TEXT_START + PREFIX_BYTES);
  const firstPast = (isPast: (code: number) => boolean): number =>
    firstWhere(0, codes.length, (place) => {
      const own = jobCounts[place]!;
      return own < count || (own === count && isPast(codes[place]!));
    });
  if (isWhole) return firstPast((code) => skillNames.compareTo(code, text) > 0);
  const compare = (code: number): number => {
    const start = skillNames.startOf(code);
    const end = Math.min(skillNames.endOf(code), start + text.length);
    return compareText(skillNames.bytes, start, end, text, 0, text.length);
  };
  const first = firstPast((code) => compare(code) >= 0);
  const past = firstPast((code) => compare(code) > 0);
  const digest = String.fromCharCode(...after.subarray(TEXT_START + PREFIX_BYTES));
  for (let place = first; place < past; place++) {
    if (sha256Latin1(bytesOf(skillNames, codes[place]!)).startsWith(digest)) return place + 1;
  }
  return first;
}

function positionAt({ codes, jobCounts }: SkillTable, skillNames: TextColumn, place: number): Uint8Array {
  const text = bytesOf(skillNames, codes[place]!);
  const isWhole = text.length <= TEXT_BYTES_MAX;
  const bytes = new Uint8Array(isWhole ? TEXT_START + text.length : POSITION_BYTES_MAX);
  bytes[0] = isWhole ? 0 : 1;
  new DataView(bytes.buffer).setUint32(1, jobCounts[place]!);
  bytes.set(isWhole ? text : text.subarray(0, PREFIX_BYTES), TEXT_START);
  if (isWhole) return bytes;
  const digest = sha256Latin1(text);
  for (let i = 0; i < DIGEST_BYTES; i++) bytes[TEXT_START + PREFIX_BYTES + i] = digest.charCodeAt(i);
  return bytes;
}

const bytesOf = (texts: TextColumn, code: number): Uint8Array =>
  texts.bytes.subarray(texts.startOf(code), texts.endOf(code));
