/**
 * How many of each part a rate of paid requests needs, and which part of a layout reaches its limit first. A layout is
 * one step of growth: one box, one database, partitions, regions. Its bounds are rates; the smallest is its limit.
 */
import type { Costs, Machines } from './costs.ts';

/** A bound of a layout: the paid requests a second that one part of it carries. */
export interface Bound {
  readonly part: string;
  readonly perSecond: number;
}

export interface Layout {
  readonly name: string;
  readonly bounds: readonly Bound[];
  /** What replaces the part that reaches its limit first. */
  readonly next: string;
}

const SECONDS_A_DAY = 86_400;

/** Sales a second that one database can write, by its cores, its log and its used authorizations; books in files. */
function databaseBounds(costs: Costs, machines: Machines): Bound[] {
  const { databaseMicros, rowsPerSale, logBytesPerRow, claimBytes, claimSeconds } = costs;
  const { utilization, databaseCores, databaseLogBytes, databaseBytes } = machines;
  return [
    { part: 'database: processor time', perSecond: (databaseCores * utilization * 1e6) / databaseMicros },
    { part: 'database: log', perSecond: databaseLogBytes / (logBytesPerRow * rowsPerSale) },
    { part: 'database: used authorizations', perSecond: (databaseBytes * 0.1) / (claimBytes * claimSeconds) },
  ];
}

/** Sales a second for which one database can store the books. */
const booksBound = ({ saleBytes }: Costs, { databaseBytes, bookDays }: Machines): Bound => ({
  part: `database: ${bookDays} days of books`,
  perSecond: (databaseBytes * 0.9) / (saleBytes * bookDays * SECONDS_A_DAY),
});

const gatesFor = (perSecond: number, { gateMicros }: Costs, { gateCores, utilization }: Machines): number =>
  Math.ceil((perSecond * gateMicros) / 1e6 / (gateCores * utilization));

/** The layouts in the order in which a growing shop needs them. */
export function layouts(costs: Costs, machines: Machines, boxCores: number): readonly Layout[] {
  const { gateMicros, serviceMicros } = costs;
  const { utilization, databaseConnections, regionGates, gateCores } = machines;
  const perGate = (gateCores * utilization * 1e6) / gateMicros;
  const database = databaseBounds(costs, machines);
  const perPartition = Math.min(...database.map(({ perSecond }) => perSecond));
  const connections = { part: 'connections of gates to the database', perSecond: databaseConnections * perGate };
  // Every gate of a region has one connection to every partition of it.
  const perRegion = Math.min(regionGates, databaseConnections) * perGate;
  return [
    {
      name: `one box of ${boxCores} cores`,
      bounds: [
        { part: 'its cores: signatures', perSecond: (boxCores * utilization * 1e6) / (gateMicros + serviceMicros) },
      ],
      next: 'gates and jobs services on machines of their own, one database',
    },
    {
      name: 'gates, jobs services, one database',
      bounds: [...database, booksBound(costs, machines), connections],
      next: 'books older than a day in files of an object store; the database keeps their sums',
    },
    {
      name: 'the same, books in files',
      bounds: [...database, connections],
      next: 'claims, intents and outcomes hashed by payer over partitions, each with replicas',
    },
    {
      name: 'one region, partitions by payer',
      bounds: [
        { part: `gates that one region runs (${regionGates})`, perSecond: perRegion },
        { part: 'partitions with a connection of each gate', perSecond: databaseConnections * perPartition },
      ],
      next: 'regions; a payer has a home region, and another one passes its requests on',
    },
  ];
}

export const firstOf = ({ bounds }: Layout): Bound =>
  bounds.reduce((least, bound) => (bound.perSecond < least.perSecond ? bound : least));

export interface Sizes {
  readonly perSecond: number;
  /** The layout that carries the rate; the last one with as many regions as necessary. */
  readonly layout: Layout;
  readonly regions: number;
  readonly gates: number;
  readonly partitions: number;
  readonly shards: number;
  /** Replicas of each shard, for its share of the questions; at least two, so that one may die. */
  readonly replicas: number;
  readonly serviceMachines: number;
  readonly logBytesPerSecond: number;
  readonly liveAuthorizations: number;
  readonly bookBytesPerDay: number;
}

/**
 * Shares of the questions: answered from the cohort, which every service holds merged; about one company or job,
 * answered by one shard; and searches, answered by all shards. The seven paid routes count equally.
 */
const QUESTIONS = { cohort: 4 / 7, oneShard: 2 / 7, allShards: 1 / 7 } as const;

/** @param jobs of the catalogue */
export function sizesAt(perSecond: number, jobs: number, costs: Costs, machines: Machines): Sizes {
  const steps = layouts(costs, machines, 2);
  const last = steps.at(-1)!;
  const layout = steps.find((step) => firstOf(step).perSecond >= perSecond) ?? last;
  const regions = layout === last ? Math.ceil(perSecond / firstOf(last).perSecond) : 1;
  const gates = layout === steps[0] ? 1 : Math.max(2, gatesFor(perSecond, costs, machines));
  const perPartition = Math.min(...databaseBounds(costs, machines).map((bound) => bound.perSecond));
  const shards = Math.ceil(jobs / costs.shardJobs);
  const asked = QUESTIONS.cohort + QUESTIONS.oneShard + QUESTIONS.allShards * shards;
  const perService = (machines.serviceCores * machines.utilization * 1e6) / costs.serviceMicros;
  const replicas = Math.max(2, Math.ceil((perSecond * asked) / shards / perService));
  const salesPerDay = perSecond * SECONDS_A_DAY;
  return {
    perSecond,
    layout,
    regions,
    gates,
    partitions: Math.ceil(perSecond / perPartition),
    shards,
    replicas,
    serviceMachines: shards * replicas,
    logBytesPerSecond: perSecond * costs.rowsPerSale * costs.logBytesPerRow,
    liveAuthorizations: perSecond * costs.claimSeconds,
    bookBytesPerDay: salesPerDay * costs.saleBytes,
  };
}
