/** The checks of the history sections at load: bytes against checksums, every number against what it points into. */
import { checkedSection } from '../snapshot/cold-sections.ts';
import type { Section, SectionName } from '../snapshot/layout.ts';
import { float64sIn, uint32sIn } from '../snapshot/numbers-at.ts';
import type { Refuse } from '../snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../snapshot/source.ts';
import { HISTORY_KINDS, NO_ROW } from './history-event.ts';
import { checkingPacked } from './packed-checks.ts';

/** In steps. @throws SnapshotError when a byte or a number of the history is wrong */
export function* checkingHistory(
  source: SnapshotSource,
  sections: Readonly<Record<SectionName, Section>>,
  { companyCount, rowCount }: { readonly companyCount: number; readonly rowCount: number },
  refuse: Refuse,
): Generator<void, void> {
  const { historyKinds, historyPositions, historyRows, historySerials, historyTimes } = sections;
  const count = historyKinds.byteLength;
  // A loop for each section, by index: a function called with each element takes four times as long, an iterator ten times.
  const checked = (section: Section, check: (bytes: Uint8Array) => void): Generator<void, void> =>
    checkedSection(source, section, check, refuse);

  requireLength(historyTimes, count * 8, refuse);
  yield* checked(historyTimes, (bytes) => {
    const times = float64sIn(bytes);
    for (let i = 0; i < times.length; i++) {
      if (!Number.isSafeInteger(times[i]!)) throw refuse('has an event without a time');
    }
  });
  requireLength(historyRows, count * 4, refuse);
  let withRow = 0;
  yield* checked(historyRows, (bytes) => {
    const rows = uint32sIn(bytes);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (row === NO_ROW) continue;
      if (row >= rowCount) throw refuse('has an event of no job');
      withRow++;
    }
  });
  yield* checked(historyKinds, (kinds) => {
    for (let i = 0; i < kinds.length; i++) {
      if (kinds[i]! >= HISTORY_KINDS.length) throw refuse('has an event of no kind');
    }
  });
  if (historySerials.byteLength !== 0) requireLength(historySerials, count * 4, refuse);
  let before = -1;
  yield* checked(historySerials, (bytes) => {
    const serials = uint32sIn(bytes);
    for (let i = 0; i < serials.length; i++) {
      if (serials[i]! <= before) throw refuse('has historySerials out of order');
      before = serials[i]!;
    }
  });
  const { historyBlockOffsets, historyBlocks, historyCompanyOffsets, historyCompanyPositions } = sections;
  const { historyOffsets, historyPlaces } = sections;
  yield* checkingIndex(source, historyOffsets, historyPositions, { itemCount: rowCount, eventCount: count }, refuse);
  requireLength(historyPositions, withRow * 4, refuse);
  const ofCompanies = { itemCount: companyCount, eventCount: count };
  yield* checkingIndex(source, historyCompanyOffsets, historyCompanyPositions, ofCompanies, refuse);
  const texts = { places: historyPlaces, blockOffsets: historyBlockOffsets, blocks: historyBlocks };
  yield* checkingPacked(source, texts, count, refuse);
}

function requireLength(section: Section, byteLength: number, refuse: Refuse): void {
  if (section.byteLength !== byteLength) throw refuse(`has a wrong number of elements in ${section.name}`);
}

/** Which events each row, or each company, has: offsets ascend from 0 to the end of the positions, which are events. */
function* checkingIndex(
  source: SnapshotSource,
  offsets: Section,
  positions: Section,
  { eventCount, itemCount }: { readonly eventCount: number; readonly itemCount: number },
  refuse: Refuse,
): Generator<void, void> {
  requireLength(offsets, (itemCount + 1) * 4, refuse);
  let end: number | undefined;
  const requireAscending = (bytes: Uint8Array): void => {
    const values = uint32sIn(bytes);
    for (let i = 0; i < values.length; i++) {
      const offset = values[i]!;
      if (end === undefined ? offset !== 0 : offset < end) throw refuse(`has ${offsets.name} out of order`);
      end = offset;
    }
  };
  yield* checkedSection(source, offsets, requireAscending, refuse);
  if ((end ?? 0) * 4 !== positions.byteLength) throw refuse(`has wrong ends in ${offsets.name}`);
  const requireEvents = (bytes: Uint8Array): void => {
    const values = uint32sIn(bytes);
    for (let i = 0; i < values.length; i++) {
      if (values[i]! >= eventCount) throw refuse(`has ${positions.name} out of range`);
    }
  };
  yield* checkedSection(source, positions, requireEvents, refuse);
}
