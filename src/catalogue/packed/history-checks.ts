/** The checks of the history sections at load: bytes against checksums, every number against what it points into. */
import { requireChecked } from '../snapshot/cold-sections.ts';
import type { Section, SectionName } from '../snapshot/layout.ts';
import { float64sIn, uint32sIn } from '../snapshot/numbers-at.ts';
import type { Refuse } from '../snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../snapshot/source.ts';
import { HISTORY_KINDS, NO_ROW } from './history-event.ts';
import { checkPacked } from './packed-checks.ts';

type Values = ArrayLike<number>;

/** @throws SnapshotError when a byte or a number of the history is wrong */
export function checkHistory(
  source: SnapshotSource,
  sections: Readonly<Record<SectionName, Section>>,
  { companyCount, rowCount }: { readonly companyCount: number; readonly rowCount: number },
  refuse: Refuse,
): void {
  const { historyBlockOffsets, historyBlocks, historyKinds, historyOffsets, historyPlaces, historyPositions } =
    sections;
  const { historyRows, historySerials, historyTimes } = sections;
  const { historyCompanyOffsets, historyCompanyPositions } = sections;
  const count = historyKinds.byteLength;
  const checked = (section: Section, valuesIn: (bytes: Uint8Array) => Values, take: (value: number) => void): void => {
    requireChecked(
      source,
      section,
      (bytes) => {
        const values = valuesIn(bytes);
        // By index: iterating over a typed array takes ten times as long.
        for (let i = 0; i < values.length; i++) take(values[i]!);
      },
      refuse,
    );
  };
  const requireCount = (section: Section, byteLength: number): void => {
    if (section.byteLength !== byteLength) throw refuse(`has a wrong number of elements in ${section.name}`);
  };

  requireCount(historyTimes, count * 8);
  checked(historyTimes, float64sIn, (time) => {
    if (!Number.isSafeInteger(time)) throw refuse('has an event without a time');
  });
  requireCount(historyRows, count * 4);
  let withRow = 0;
  checked(historyRows, uint32sIn, (row) => {
    if (row === NO_ROW) return;
    if (row >= rowCount) throw refuse('has an event of no job');
    withRow++;
  });
  checked(
    historyKinds,
    (bytes) => bytes,
    (kind) => {
      if (kind >= HISTORY_KINDS.length) throw refuse('has an event of no kind');
    },
  );
  if (historySerials.byteLength !== 0) requireCount(historySerials, count * 4);
  let serial = -1;
  checked(historySerials, uint32sIn, (value) => {
    if (value <= serial) throw refuse('has historySerials out of order');
    serial = value;
  });

  const requireIndex = (offsets: Section, positions: Section, itemCount: number): void => {
    requireCount(offsets, (itemCount + 1) * 4);
    let end = 0;
    let isFirst = true;
    checked(offsets, uint32sIn, (offset) => {
      if (offset < end || (isFirst && offset !== 0)) throw refuse(`has ${offsets.name} out of order`);
      isFirst = false;
      end = offset;
    });
    if (end * 4 !== positions.byteLength) throw refuse(`has wrong ends in ${offsets.name}`);
    checked(positions, uint32sIn, (position) => {
      if (position >= count) throw refuse(`has ${positions.name} out of range`);
    });
  };
  requireIndex(historyOffsets, historyPositions, rowCount);
  requireCount(historyPositions, withRow * 4);
  requireIndex(historyCompanyOffsets, historyCompanyPositions, companyCount);
  checkPacked(
    source,
    { places: historyPlaces, blockOffsets: historyBlockOffsets, blocks: historyBlocks },
    count,
    refuse,
  );
}
