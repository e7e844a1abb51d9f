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
  const { historyBlockOffsets, historyBlocks, historyKinds, historyOffsets, historyPlaces, historyPositions } =
    sections;
  const { historyRows, historySerials, historyTimes } = sections;
  const { historyCompanyOffsets, historyCompanyPositions } = sections;
  const count = historyKinds.byteLength;
  const requireCount = (section: Section, byteLength: number): void => {
    if (section.byteLength !== byteLength) throw refuse(`has a wrong number of elements in ${section.name}`);
  };
  // A loop for each section, by index: a function called with each element takes four times as long, an iterator ten times.
  const checked = (section: Section, check: (bytes: Uint8Array) => void): Generator<void, void> =>
    checkedSection(source, section, check, refuse);

  requireCount(historyTimes, count * 8);
  yield* checked(historyTimes, (bytes) => {
    const times = float64sIn(bytes);
    for (let i = 0; i < times.length; i++) {
      if (!Number.isSafeInteger(times[i]!)) throw refuse('has an event without a time');
    }
  });
  requireCount(historyRows, count * 4);
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
  if (historySerials.byteLength !== 0) requireCount(historySerials, count * 4);
  let before = -1;
  yield* checked(historySerials, (bytes) => {
    const serials = uint32sIn(bytes);
    for (let i = 0; i < serials.length; i++) {
      if (serials[i]! <= before) throw refuse('has historySerials out of order');
      before = serials[i]!;
    }
  });

  const checkingIndex = function* (offsets: Section, positions: Section, itemCount: number): Generator<void, void> {
    requireCount(offsets, (itemCount + 1) * 4);
    let end: number | undefined;
    yield* checked(offsets, (bytes) => {
      const values = uint32sIn(bytes);
      for (let i = 0; i < values.length; i++) {
        const offset = values[i]!;
        if (end === undefined ? offset !== 0 : offset < end) throw refuse(`has ${offsets.name} out of order`);
        end = offset;
      }
    });
    if ((end ?? 0) * 4 !== positions.byteLength) throw refuse(`has wrong ends in ${offsets.name}`);
    yield* checked(positions, (bytes) => {
      const values = uint32sIn(bytes);
      for (let i = 0; i < values.length; i++) {
        if (values[i]! >= count) throw refuse(`has ${positions.name} out of range`);
      }
    });
  };
  yield* checkingIndex(historyOffsets, historyPositions, rowCount);
  requireCount(historyPositions, withRow * 4);
  yield* checkingIndex(historyCompanyOffsets, historyCompanyPositions, companyCount);
  yield* checkingPacked(
    source,
    { places: historyPlaces, blockOffsets: historyBlockOffsets, blocks: historyBlocks },
    count,
    refuse,
  );
}
