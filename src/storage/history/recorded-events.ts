/**
 * The events of a catalogue for a snapshot (siblings §4): in the order in which they were recorded, with the changes of
 * one observation as one event and the title as of the event.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { EventJob, RecordedEvent } from '../../catalogue/packed/history-build.ts';
import type { ChangedField, HistoryChange, HistoryKind } from '../../catalogue/packed/history-event.ts';
import type { EventKind } from '../../ingest/history/observation.ts';
import type { Row } from '../sqlite/connection.ts';
import type { HistoryDatabase } from './database.ts';

const KINDS: Readonly<Record<EventKind, HistoryKind>> = {
  opened: 'first_observed',
  changed: 'changed',
  closed: 'closed',
  reopened: 'reopened',
};

/**
 * The title as of an event is the one replaced by the first later change of title; without such a change, the job's present
 * title. A change counts as later if it was observed later or recorded later: a late feed's change of title, observed before a
 * published event, does not alter that event. Changes of one job are recorded in the order of their observation.
 */
const EVENTS = `
  SELECT event.serial, at_ms, kind, event.job, field, before, after, id, job.title, company, company_domain, board, (
    SELECT later.before FROM event AS later
    WHERE later.job = event.job AND later.field = 'title' AND (later.at_ms > event.at_ms OR later.serial > event.serial)
    ORDER BY later.serial LIMIT 1
  ) AS title_then
  FROM event JOIN job ON job.serial = event.job WHERE event.serial >= ? AND event.serial < ? ORDER BY event.serial`;

export interface CatalogueEvent {
  readonly event: RecordedEvent;
  /** The job, with the company of its own row. */
  readonly job: EventJob;
  /** Serial of the job's board. */
  readonly board: number;
}

/**
 * @param from serial of the first row, which begins an event @param to serial after the last
 * @throws HistoryError
 */
export function* recordedEvents(
  history: HistoryDatabase,
  from = 0,
  to = Number.MAX_SAFE_INTEGER,
): Generator<CatalogueEvent, void, void> {
  let rows: Row[] = [];
  for (const row of history.each(EVENTS, from, to)) {
    const first = rows[0];
    const isSame =
      first !== undefined &&
      first.kind === 'changed' &&
      row.kind === 'changed' &&
      row.job === first.job &&
      row.at_ms === first.at_ms;
    if (first !== undefined && !isSame) {
      yield eventOf(rows);
      rows = [];
    }
    rows.push(row);
  }
  if (rows.length > 0) yield eventOf(rows);
}

/**
 * Serials of the jobs whose title was changed after a serial: their earlier events may now show the replaced title.
 * @throws HistoryError
 */
export function retitledSince(history: HistoryDatabase, serial: number): ReadonlySet<number> {
  const sql = "SELECT DISTINCT job FROM event WHERE serial > ? AND field = 'title'";
  const rows = history.rows(sql, serial);
  return new Set(rows.map(({ job }) => job as number));
}

/** @param rows the changes of one observation, or a single event of another kind */
function eventOf(rows: readonly Row[]): CatalogueEvent {
  const first = rows[0]!;
  const last = rows.at(-1)!;
  return {
    event: {
      serial: first.serial as number,
      kind: KINDS[first.kind as EventKind],
      observedMs: first.at_ms as number,
      title: last.title_then as string | null,
      changes: first.kind === 'changed' ? rows.map(changeOf) : [],
    },
    job: {
      id: first.id as string,
      title: first.title as string,
      company: first.company as string,
      companyDomain: first.company_domain as CompanyDomain | null,
    },
    board: first.board as number,
  };
}

function changeOf({ after, before, field }: Row): HistoryChange {
  const textOf = (value: unknown): string | null => {
    if (field === 'description') return null;
    if (field === 'skills' && value !== null) return (JSON.parse(value as string) as string[]).join(', ');
    return value as string | null;
  };
  return { field: field as ChangedField, previous: textOf(before), current: textOf(after) };
}
