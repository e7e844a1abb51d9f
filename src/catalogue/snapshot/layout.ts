/**
 * The form of a snapshot file (decisions §3, "Snapshot"), version 5. Little-endian throughout.
 *
 *   byte 0   magic, 8 bytes
 *        8   format version            Uint32
 *       12   length of the JSON header Uint32, a multiple of 8 (filled up with blanks)
 *       16   CRC-32 of the JSON header Uint32
 *       20   zero                      Uint32
 *       24   JSON header, then the sections of `SECTIONS` in that order, each at the next multiple of 8, the bytes
 *            between them zero; the last section ends the file
 *
 * Checksums cover every byte that may vary, so a file with one wrong bit is refused.
 */
import * as v from 'valibot';
import { crc32 } from '../../base/crc32.ts';
import { sha256Hex } from '../../base/digest.ts';
import { ROW_COUNT_MAX, SKILLS_VERSION_LENGTH_MAX } from '../limits.ts';
import { WHOLE_SECTIONS } from '../whole/sections.ts';

/** As in PNG, the first byte is not ASCII, and a program that rewrites line ends changes the last two. */
export const MAGIC = Uint8Array.of(0x8a, 0x50, 0x41, 0x59, 0x47, 0x52, 0x0d, 0x0a);

export const FORMAT_VERSION = 5;

export const PREFIX_BYTES = 24;

export const ELEMENT_BYTES = { u8: 1, u16: 2, u32: 4, f64: 8 } as const;
export type ElementType = keyof typeof ELEMENT_BYTES;

/**
 * The sections, in the order of the file. Rows are numbered in the order of the catalogue: active before closed, newest
 * last observation first, then the SHA-256 of the id's UTF-8, then id by code unit. Codes are numbered by first appearance
 * in that order, except departments, skills and companies, which are numbered by text, so that comparing codes compares
 * texts. Code 0 of location and department is "not recorded", and its text is empty. Offsets have one more element than
 * what they divide. Times are milliseconds since the epoch.
 */
export const SECTIONS = [
  { name: 'lastObserved', types: ['f64'] },
  { name: 'firstObserved', types: ['f64'] },
  { name: 'title', types: ['u32'] },
  { name: 'employer', types: ['u32'] },
  { name: 'location', types: ['u32'] },
  { name: 'department', types: ['u16', 'u32'] },
  { name: 'remoteStatus', types: ['u8'] },
  { name: 'employmentType', types: ['u8'] },
  // An employer is a recorded name, a company, and where its domain is from; a company has one for each spelling of its name.
  { name: 'employerCompany', types: ['u32'] },
  { name: 'employerNameOffsets', types: ['u32'] },
  { name: 'employerNameText', types: ['u8'] },
  // Where the employer's domain is from: index in DOMAIN_EVIDENCE plus one, 0 = no domain.
  { name: 'employerEvidence', types: ['u8'] },
  // Other domains by which a company is found, ascending by text; none is the domain of a company.
  { name: 'aliasCompany', types: ['u32'] },
  { name: 'aliasOffsets', types: ['u32'] },
  { name: 'aliasText', types: ['u8'] },
  // Companies by active jobs, and in that order their signatures for finding them by part of their name
  // (company-signatures.ts).
  { name: 'companyOrder', types: ['u32'] },
  { name: 'companySignatures', types: ['u32'] },
  // 1 = the key of the company is its domain, 0 = the compared form of its name. On equal keys the domain is first.
  { name: 'companyHasDomain', types: ['u8'] },
  { name: 'companyKeyOffsets', types: ['u32'] },
  { name: 'companyKeyText', types: ['u8'] },
  { name: 'locationOffsets', types: ['u32'] },
  { name: 'locationText', types: ['u8'] },
  { name: 'departmentOffsets', types: ['u32'] },
  { name: 'departmentText', types: ['u8'] },
  { name: 'skillTextOffsets', types: ['u32'] },
  { name: 'skillText', types: ['u8'] },
  // One element a closed row, from the first closed row on: when it closed.
  { name: 'closedAt', types: ['f64'] },
  // The closed rows, newest closing first, then by id.
  { name: 'closings', types: ['u32'] },
  // The active rows whose SHA-256 of the id is smallest, at most PUBLIC_POOL_SIZE, in that order.
  { name: 'publicPool', types: ['u32'] },
  // The details of jobs (details.ts). The last section has one element a row: the place of its id among all ids, by code unit.
  { name: 'titleOffsets', types: ['u32'] },
  { name: 'titleText', types: ['u8'] },
  { name: 'skillOffsets', types: ['u32'] },
  { name: 'skills', types: ['u16', 'u32'] },
  { name: 'idRank', types: ['u32'] },
  // The index over the whole catalogue.
  ...WHOLE_SECTIONS,
  // Cold: read a row at a time. The id of row r starts at element 2r, its source URL at 2r + 1 and ends at 2r + 2.
  { name: 'coldOffsets', types: ['u32'] },
  { name: 'coldText', types: ['u8'] },
  // The rows in order of their ids, for finding a row by its id.
  { name: 'rowsById', types: ['u32'] },
  // Packed texts (packed/packed-texts.ts): places of rows or events, none where no item has a text; where each block starts;
  // the blocks. Descriptions of one company's rows are neighbours, and equal ones are stored once.
  { name: 'descriptionPlaces', types: ['u32'] },
  { name: 'descriptionBlockOffsets', types: ['f64'] },
  { name: 'descriptionBlocks', types: ['u8'] },
  // One element an event, in the order in which events were recorded. A row of 2^32 - 1: the file does not hold the job.
  { name: 'historyTimes', types: ['f64'] },
  { name: 'historyRows', types: ['u32'] },
  { name: 'historyKinds', types: ['u8'] },
  // Numbers in the catalogue that recorded the events; empty where they follow from the jobs.
  { name: 'historySerials', types: ['u32'] },
  // Events of row r are `historyPositions[historyOffsets[r]] ..`, by observed time, then as recorded.
  { name: 'historyOffsets', types: ['u32'] },
  { name: 'historyPositions', types: ['u32'] },
  // Events of company c are `historyCompanyPositions[historyCompanyOffsets[c]] ..`, as recorded; those of absent jobs with its
  // domain are among them.
  { name: 'historyCompanyOffsets', types: ['u32'] },
  { name: 'historyCompanyPositions', types: ['u32'] },
  { name: 'historyPlaces', types: ['u32'] },
  { name: 'historyBlockOffsets', types: ['f64'] },
  { name: 'historyBlocks', types: ['u8'] },
] as const satisfies readonly { name: string; types: readonly ElementType[] }[];

export type SectionName = (typeof SECTIONS)[number]['name'];

/** Sections of compressed blocks, which may be too large for the offsets of other texts. */
export const BLOCK_SECTIONS: readonly SectionName[] = ['descriptionBlocks', 'historyBlocks'];
const BLOCK_OFFSETS: readonly string[] = ['descriptionBlockOffsets', 'historyBlockOffsets'];

const indexOf = (name: SectionName): number => SECTIONS.findIndex((section) => section.name === name);

/** Index of the first section of the details, which follow the columns. */
export const FIRST_DETAIL_SECTION = indexOf('titleOffsets');

/** Index of the first section of the index over the whole catalogue, which follows the details. */
export const FIRST_INDEX_SECTION = indexOf(WHOLE_SECTIONS[0].name);

/** Index of the first section that stays in the file. */
export const FIRST_COLD_SECTION = indexOf('coldOffsets');

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const sectionSchema = v.strictObject({
  name: v.string(),
  type: v.picklist(['u8', 'u16', 'u32', 'f64']),
  offset: count,
  byteLength: count,
  /** CRC-32 of the section's bytes. */
  checksum: v.pipe(count, v.maxValue(0xffffffff)),
  /** Of compressed blocks only: CRC-32 of what they hold. */
  content: v.optional(v.pipe(count, v.maxValue(0xffffffff))),
});

export const headerSchema = v.strictObject({
  rows: v.pipe(count, v.maxValue(ROW_COUNT_MAX)),
  active: count,
  /** The build's facts about itself (build.ts). Not part of the content, so not of its digest. */
  facts: v.strictObject({
    builtAtMs: v.pipe(v.number(), v.safeInteger()),
    sourceRows: count,
    rejectedRows: count,
    skillsVersion: v.pipe(v.string(), v.maxLength(SKILLS_VERSION_LENGTH_MAX)),
    leftOut: v.optional(v.strictObject({ maxAgeDays: v.nullable(count), agedJobs: count, sameUrlJobs: count })),
  }),
  sections: v.array(sectionSchema),
});

export type Header = v.InferOutput<typeof headerSchema>;
export type Section = Header['sections'][number];

/**
 * SHA-256, in hex, over the row counts and the sections' names, types, lengths and checksums: the same for the same set
 * of jobs and events, whatever the build says about itself. For compressed blocks the uncompressed text counts, because
 * another release of the compressor may write other bytes.
 */
export function contentDigestOf(header: Pick<Header, 'rows' | 'active' | 'sections'>): string {
  const content = header.sections
    .filter(({ name }) => !BLOCK_OFFSETS.includes(name))
    .map(({ name, type, byteLength, checksum, content: held }) =>
      held === undefined ? [name, type, byteLength, checksum] : [name, held],
    );
  return sha256Hex(JSON.stringify([header.rows, header.active, content]));
}

/** CRC-32 of `bytes`. @param checksum that of the bytes before them, to continue it */
export function checksumOf(bytes: Uint8Array, checksum = 0): number {
  // For an array without memory Node 22 returns 0 and drops the running sum.
  return bytes.length === 0 ? checksum : crc32(bytes, checksum);
}

/** The next multiple of 8: where a section may start. */
export function aligned(offset: number): number {
  return Math.ceil(offset / 8) * 8;
}

/** The bytes before the first section. */
export function encodeHeader(header: Header): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(PREFIX_BYTES + aligned(json.length)).fill(0x20, PREFIX_BYTES);
  bytes.set(MAGIC);
  bytes.set(json, PREFIX_BYTES);
  const prefix = new DataView(bytes.buffer);
  prefix.setUint32(8, FORMAT_VERSION, true);
  prefix.setUint32(12, bytes.length - PREFIX_BYTES, true);
  prefix.setUint32(16, checksumOf(bytes.subarray(PREFIX_BYTES)), true);
  return bytes;
}
