/** The jobs of a build in the order of the file: the columns of rows, dictionaries and companies, and the index over them. */
import { buildWholeIndex } from '../whole/build-index.ts';
import { coldOffsetsOf } from './cold-text.ts';
import { gathered, narrowed } from './column-arrays.ts';
import { companySignaturesOf } from './company-signatures.ts';
import type { JobRows } from './job-rows.ts';
import { aliasSections, codesByAppearance, codesByText, companiesOf, textSections } from './text-codes.ts';

/** The columns of all rows and dictionaries, and the index over them; yields between pieces of the work. @param order ordinals by row */
export function* rowColumns(rows: JobRows, order: Uint32Array) {
  const title = codesByAppearance(rows.titles, gathered(rows.title, order), 0);
  const location = codesByAppearance(rows.locations, gathered(rows.location, order), 1);
  const department = codesByText(rows.departments, gathered(rows.department, order), 1);
  yield;
  const skillRows = skillRowsOf(rows, order);
  const skills = codesByText(rows.skillNames, skillRows.numbers, 0);
  yield;
  const employer = codesByAppearance(rows.employers.table, gathered(rows.employer, order), 0);
  const companies = companiesOf(rows.employers.table, employer.dictionary);
  const aliases = aliasSections(rows.employers, companies);
  const { order: companyOrder, signatures } = companySignaturesOf(employer.codes, rows.activeCount, companies);
  yield;
  const titleTexts = textSections(rows.titles, title.dictionary, 0);
  const locationTexts = textSections(rows.locations, location.dictionary, 1);
  const departmentTexts = textSections(rows.departments, department.dictionary, 1);
  const skillTexts = textSections(rows.skillNames, skills.dictionary, 0);
  const nameTexts = textSections(companies.names, Uint32Array.from(companies.nameOfEmployer), 0);
  const keyTexts = textSections(companies.keys, Uint32Array.from(companies.keyOfCompany), 0);
  const columns = {
    lastObserved: gathered(rows.lastObserved, order),
    firstObserved: gathered(rows.firstObserved, order),
    title: title.codes,
    employer: employer.codes,
    location: location.codes,
    department: narrowed(department.codes, department.dictionary.length + 1),
    remoteStatus: gathered(rows.remoteStatus, order),
    employmentType: gathered(rows.employmentType, order),
    skillOffsets: skillRows.offsets,
    skills: narrowed(skills.codes, skills.dictionary.length),
    titleOffsets: titleTexts.offsets,
    titleText: titleTexts.text,
    employerCompany: companies.companyOfEmployer,
    employerNameOffsets: nameTexts.offsets,
    employerNameText: nameTexts.text,
    employerEvidence: companies.evidenceOfEmployer,
    aliasCompany: aliases.company,
    aliasOffsets: aliases.offsets,
    aliasText: aliases.text,
    companyOrder,
    companySignatures: signatures,
    companyHasDomain: companies.hasDomain,
    companyKeyOffsets: keyTexts.offsets,
    companyKeyText: keyTexts.text,
    locationOffsets: locationTexts.offsets,
    locationText: locationTexts.text,
    departmentOffsets: departmentTexts.offsets,
    departmentText: departmentTexts.text,
    skillTextOffsets: skillTexts.offsets,
    skillText: skillTexts.text,
    coldOffsets: coldOffsetsOf(rows, order),
  };
  yield;
  return {
    columns: { ...columns, ...(yield* buildWholeIndex(columns)) },
    disputedAliases: aliases.disputed,
    companyOfDomain: aliases.companyOfDomain,
  };
}

function skillRowsOf(
  rows: JobRows,
  order: Uint32Array,
): { offsets: Uint32Array<ArrayBuffer>; numbers: Uint32Array<ArrayBuffer> } {
  const offsets = new Uint32Array(order.length + 1);
  const numbers = new Uint32Array(rows.skillCount);
  let end = 0;
  for (let row = 0; row < order.length; row++) {
    const ordinal = order[row]!;
    const until = rows.skillEnds[ordinal]!;
    for (let i = rows.skillStart(ordinal); i < until; i++) numbers[end++] = rows.skillNumbers[i]!;
    offsets[row + 1] = end;
  }
  return { offsets, numbers };
}

type Yielded<Work> = Work extends Generator<void, infer Result, void> ? Result : never;

export type RowColumns = Yielded<ReturnType<typeof rowColumns>>['columns'];
