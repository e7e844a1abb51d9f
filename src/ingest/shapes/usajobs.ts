/**
 * USAJOBS, postings of the government of the United States, in three forms: the search API (developer.usajobs.gov;
 * SearchResult.SearchResultItems[].MatchedObjectDescriptor), the historic job announcements ({"data": [...]}, camel case),
 * and rows by department made from those (snake case).
 *
 * id                 `usajobs:<department>:<control number>`
 * company            the hiring agency, else the department; no domain: agencies share one
 * location           `PositionLocationDisplay` or the locations, where the form has them
 * department         the department (ministry) that the agency belongs to
 * remote_status      `RemoteIndicator` when true; eligibility for telework is no place of work
 * employment_type    work schedule (full-time, part-time), and by APPOINTMENTS where the appointment is limited
 * first, last        opening date, the observation; once closed, the closing date
 * status             closed when the closing date is past, in the time of the observation
 */
import { objectOf } from '../../base/json-value.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import {
  endTimeOf,
  firstText,
  flagOf,
  joinedHtml,
  listOf,
  type SourceRecord,
  textOf,
  timeOf,
  urlOf,
} from '../input/source-field.ts';
import { defineShape, refusal } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { slugOf } from './job-id.ts';
import { joinedPlaces, placeOf } from './places.ts';
import { listedUnder } from './record-list.ts';

const NAME = 'usajobs';

/** Appointment types as USAJOBS names them (code list PositionOfferingTypes), whole and in lower case. Term is limited. */
const APPOINTMENTS: ReadonlyMap<string, EmploymentType> = new Map<string, EmploymentType>([
  ['temporary', 'temporary'],
  ['term', 'temporary'],
  ['seasonal', 'temporary'],
  ['summer', 'temporary'],
  ['intermittent', 'part_time'],
  ['internships', 'internship'],
  ['internship', 'internship'],
]);

/** Appointments of several kinds (temporary or permanent), and schedules that exclude each other, are unknown. */
function employmentOf(appointments: readonly string[], schedules: readonly string[]): EmploymentType {
  const kinds = new Set(appointments.map((appointment) => APPOINTMENTS.get(appointment.toLowerCase())));
  if (kinds.size > 1) return 'unknown';
  const [limited] = kinds;
  return limited ?? employmentTypeOf(...schedules);
}

interface Fields {
  readonly control: string | null;
  readonly title: string | null;
  readonly agency: string | null;
  readonly department: string | null;
  readonly url: string | null;
  readonly location: string | null;
  readonly appointments: readonly string[];
  readonly schedules: readonly string[];
  readonly remote: RemoteStatus;
  readonly description: string | null;
  readonly opens: unknown;
  readonly closes: unknown;
}

function remoteOf(flag: unknown): RemoteStatus {
  return flagOf(flag) === true ? 'remote' : 'unknown';
}

function textsOf(values: readonly unknown[]): string[] {
  return values.map(textOf).filter((text) => text !== null);
}

function searchFields(item: SourceRecord, found: SourceRecord): Fields {
  const details = objectOf(objectOf(found.UserArea)?.Details) ?? {};
  const namesOf = (list: unknown) => textsOf(listOf(list).map((entry) => objectOf(entry)?.Name));
  const places = listOf(found.PositionLocation).map((place) => textOf(objectOf(place)?.LocationName));
  const duties = listOf(details.MajorDuties).map((duty) => textOf(duty));
  return {
    control: firstText(item.MatchedObjectId, found.PositionID),
    title: textOf(found.PositionTitle),
    agency: firstText(found.OrganizationName, found.DepartmentName),
    department: textOf(found.DepartmentName),
    url: urlOf(found.PositionURI),
    location: joinedPlaces(places) ?? textOf(found.PositionLocationDisplay),
    appointments: namesOf(found.PositionOfferingType),
    schedules: namesOf(found.PositionSchedule),
    remote: remoteOf(found.RemoteIndicator ?? details.RemoteIndicator),
    description: joinedHtml(details.JobSummary, ...duties, found.QualificationSummary),
    opens: found.PublicationStartDate ?? found.PositionStartDate,
    closes: found.ApplicationCloseDate ?? found.PositionEndDate,
  };
}

/** `camel` is the historic API's name of a field, `snake` that of the rows made from it. */
function rowFields(row: SourceRecord): Fields {
  const either = (camel: string, snake: string) => row[camel] ?? row[snake];
  const control = firstText(row.usajobsControlNumber, row.control_number, row.usajobs_control_number);
  const places = listOf(either('positionLocations', 'locations')).map((item) => {
    const place = objectOf(item);
    return place
      ? placeOf(place.positionLocationCity, place.positionLocationState, place.positionLocationCountry)
      : textOf(item);
  });
  const shown = control === null ? null : `https://www.usajobs.gov/job/${encodeURIComponent(control)}`;
  return {
    control,
    title: textOf(either('positionTitle', 'position_title')),
    agency: firstText(row.hiringAgencyName, row.hiring_agency_name, row.agency, row.department),
    department: firstText(row.hiringDepartmentName, row.hiring_department_name, row.department),
    url: urlOf(row.usajobs_url ?? row.positionURI) ?? shown,
    location: joinedPlaces(places),
    appointments: textsOf(listOf(either('appointmentType', 'appointment_type'))),
    schedules: textsOf(listOf(either('workSchedule', 'work_schedule'))),
    remote: remoteOf(either('remoteIndicator', 'remote_indicator')),
    description: null,
    opens: row.positionOpenDate ?? row.open_date ?? row.position_open_date,
    closes: row.positionCloseDate ?? row.close_date ?? row.position_close_date,
  };
}

export const usajobsShape = defineShape({
  name: NAME,
  summary: 'postings of USAJOBS, as its APIs answer or in rows by department',
  marks: '"control_number", "usajobsControlNumber" or "MatchedObjectDescriptor"',
  recordsOf(document) {
    const items = objectOf(objectOf(document)?.SearchResult)?.SearchResultItems;
    if (Array.isArray(items)) return { ok: true, records: items };
    return listedUnder(document, ['data', 'SearchResultItems'], 'a list of USAJOBS');
  },
  recognises: (record) =>
    objectOf(record.MatchedObjectDescriptor) !== undefined ||
    record.usajobsControlNumber !== undefined ||
    (record.control_number !== undefined && record.position_title !== undefined),
  claims: (document) => objectOf(document.SearchResult)?.SearchResultCount !== undefined,
  draftOf(row) {
    const found = objectOf(row.MatchedObjectDescriptor);
    const fields = found ? searchFields(row, found) : rowFields(row);
    if (fields.control === null) return refusal('control_number', 'is missing');
    return {
      board: slugOf(fields.department ?? fields.agency ?? 'usajobs'),
      sourceId: fields.control,
      title: ['position_title', fields.title],
      company: ['agency', fields.agency],
      url: ['usajobs_url', fields.url],
      location: fields.location,
      department: fields.department,
      remoteStatus: fields.remote,
      employmentType: employmentOf(fields.appointments, fields.schedules),
      description: fields.description,
      times: { publishedMs: timeOf(fields.opens), endMs: endTimeOf(fields.closes) },
    };
  },
});
