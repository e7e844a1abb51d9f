/**
 * Chooses the runs of suffixes that get a set of their rows: those that a term can select and whose rows would take a
 * question too long to unite. A question then unites the sets inside its run and the rows of the tokens between them
 * (token-index.ts), which takes at most about `costMax` nanoseconds, whatever the term.
 */
import { TOKEN_END } from './sections.ts';

/** A limit that is too low for the space is raised by this factor. */
const LIMIT_STEP = 1.25;

/** A run that gets a set. */
export interface MergedRange {
  readonly start: number;
  readonly end: number;
  /** Index of the smallest other merged range around it; -1 = none. */
  readonly parent: number;
}

/** The suffixes of a vocabulary in order, and what uniting their tokens' rows costs. */
export interface CostedSuffixes {
  readonly text: Uint8Array;
  readonly suffixes: Uint32Array;
  /** By index of a suffix: nanoseconds for the tokens of all suffixes before it; one more element than there are suffixes. */
  readonly costSums: Float64Array;
  /** The same for the rows of those tokens. */
  readonly rowSums: Float64Array;
}

/** The cost of a set with that many rows for a question, and its bytes. */
export interface SetSizes {
  costOf(rowCount: number): number;
  bytesOf(rowCount: number): number;
}

interface Node {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly inside: Node[];
  /** Cost of uniting it: by its set, or by its parts. */
  cost: number;
  isMerged: boolean;
}

/**
 * The merged ranges by start, outer before inner.
 * @param costMax  nanoseconds; raised until the sets fit
 * @param bytesMax of all their sets
 */
export function mergedRanges(input: CostedSuffixes, sizes: SetSizes, costMax: number, bytesMax: number): MergedRange[] {
  for (let limit = costMax; ; limit *= LIMIT_STEP) {
    const nodes = dearNodes(input, limit);
    let bytes = 0;
    // Nodes inside a node come after it in the list.
    for (let i = nodes.length - 1; i >= 0 && bytes <= bytesMax; i--) {
      const node = nodes[i]!;
      const rowCount = input.rowSums[node.end]! - input.rowSums[node.start]!;
      for (const inner of node.inside) node.cost += inner.cost - costIn(input, inner);
      if (node.cost <= limit) continue;
      node.isMerged = true;
      node.cost = sizes.costOf(rowCount);
      bytes += sizes.bytesOf(rowCount);
    }
    if (bytes <= bytesMax) return withParents(nodes.filter((node) => node.isMerged));
  }
}

const costIn = ({ costSums }: CostedSuffixes, { end, start }: Pick<Node, 'start' | 'end'>): number =>
  costSums[end]! - costSums[start]!;

/**
 * All runs that cost more than `limit` without sets, outer before inner: first those of one byte, then among these the
 * ones that continue with another, and so on.
 */
function dearNodes(input: CostedSuffixes, limit: number): Node[] {
  const { suffixes, text } = input;
  const nodes: Node[] = [];
  const add = (start: number, end: number, depth: number, into: Node[]): void => {
    const node = { start, end, depth, inside: [], cost: 0, isMerged: false };
    node.cost = costIn(input, node);
    if (node.cost <= limit) return;
    nodes.push(node);
    into.push(node);
  };
  const addInside = (start: number, end: number, shared: number, into: Node[]): void => {
    for (let from = start, to = start; from < end; from = to) {
      const byte = text[suffixes[from]! + shared]!;
      to = endOfRun(input, from, end, shared, byte);
      // Suffixes that end here belong to no run inside.
      if (byte !== TOKEN_END) add(from, to, shared + 1, into);
    }
  };
  addInside(0, suffixes.length, 0, []);
  // The loop also visits the nodes that it adds.
  for (const { depth, end, inside, start } of nodes) {
    if (end - start === 1) continue;
    let shared = depth;
    const byteAt = (index: number): number => text[suffixes[index]! + shared]!;
    // While all suffixes continue with the same byte, the run stays the same.
    while (byteAt(start) !== TOKEN_END && byteAt(start) === byteAt(end - 1)) shared++;
    addInside(start, end, shared, inside);
  }
  return nodes;
}

/** The end of the run of suffixes with the same `byte` at `shared` as the suffix at `from`. */
function endOfRun({ suffixes, text }: CostedSuffixes, from: number, end: number, shared: number, byte: number): number {
  // Gallop: double the step until one is too far, then bisect between the last two.
  let step = 1;
  while (from + step < end && text[suffixes[from + step]! + shared] === byte) step *= 2;
  let last = from + (step >>> 1);
  let past = Math.min(from + step, end);
  while (last + 1 < past) {
    const middle = (last + past) >>> 1;
    if (text[suffixes[middle]! + shared] === byte) last = middle;
    else past = middle;
  }
  return past;
}

function withParents(nodes: Node[]): MergedRange[] {
  nodes.sort((a, b) => a.start - b.start || b.end - a.end);
  const ranges: MergedRange[] = [];
  for (const { end, start } of nodes) {
    let parent = ranges.length - 1;
    // Two runs lie one inside the other or apart.
    while (parent >= 0 && ranges[parent]!.end <= start) parent = ranges[parent]!.parent;
    ranges.push({ start, end, parent });
  }
  return ranges;
}
