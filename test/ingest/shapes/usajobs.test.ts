import { describe, expect, it } from 'vitest';
import type { ShapeContext } from '../../../src/ingest/shapes/shape.ts';
import { usajobsShape } from '../../../src/ingest/shapes/usajobs.ts';

const CONTEXT: ShapeContext = {
  fileName: 'search.json',
  observedAtMs: Date.UTC(2026, 7, 21),
  board: { company: null, domain: null },
  manifest: new Map(),
};

function employmentTypeOf(appointments: readonly string[], schedules: readonly string[]) {
  const found = {
    PositionTitle: 'Cook',
    PositionURI: 'https://www.usajobs.gov/job/5',
    OrganizationName: 'Forest Service',
    PositionOfferingType: appointments.map((Name) => ({ Name })),
    PositionSchedule: schedules.map((Name) => ({ Name })),
  };
  const shaped = usajobsShape.nativeOf({ MatchedObjectId: '5', MatchedObjectDescriptor: found }, CONTEXT);
  if (!shaped.ok) throw new Error(`${shaped.field} ${shaped.reason}`);
  return shaped.record.employment_type;
}

describe('the employment type of a USAJOBS posting', () => {
  it.each([
    [[], [], 'unknown'],
    [['Permanent'], ['Full-time'], 'full_time'],
    [['Permanent'], ['Full-time', 'Part-time'], 'unknown'],
    [['Permanent'], ['Part-time', 'Part-time'], 'part_time'],
    [['Term'], ['Full-time', 'Part-time'], 'temporary'],
    [['Term', 'Temporary'], ['Full-time'], 'temporary'],
    [['Permanent', 'Temporary'], ['Full-time'], 'unknown'],
    [['Temporary', 'Internships'], ['Full-time'], 'unknown'],
  ])('appointments %j with schedules %j are %s', (appointments, schedules, expected) => {
    expect(employmentTypeOf(appointments, schedules)).toBe(expected);
  });
});
