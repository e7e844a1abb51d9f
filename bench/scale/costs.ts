/**
 * What one paid request costs each part, as measured on the machine of docs/benchmarks.md (two shared virtual cores, AMD EPYC),
 * and what was assumed where nothing here can measure. A figure of another machine goes in here; everything else follows.
 */
export interface Costs {
  /** Processor time of a gate for one paid request, µs: signature, claim, answer check, books (bench/split.ts). */
  readonly gateMicros: number;
  /** Of a jobs service for one question, µs (bench/split.ts). */
  readonly serviceMicros: number;
  /**
   * Of the database server for one sale, µs, with everything that it writes: claim, intent, transfer in the play ledger, outcome and
   * sale, each in its group with a commit, 32 payments under way (bench/postgres.ts: 629 on Node, 473 on Bun). A claim alone in a
   * group of 64 takes 16, so greater groups cost less; that was not measured for whole sales.
   */
  readonly databaseMicros: number;
  /** Rows that one sale writes: claim, intent, outcome, sale. */
  readonly rowsPerSale: number;
  /** Bytes of log for one row, page images spread over the groups. */
  readonly logBytesPerRow: number;
  /** Bytes of a claim with its index while the authorization could still be used, and how long that is. */
  readonly claimBytes: number;
  readonly claimSeconds: number;
  /** Bytes of a sale in the books with its indexes. */
  readonly saleBytes: number;
  /** Bytes of memory of one job with every index (bench/snapshot-load.ts, ten million jobs). */
  readonly jobBytes: number;
  /** Jobs of the greatest shard: the worst search is 40 ms with ten million (bench/search.ts). */
  readonly shardJobs: number;
}

export const MEASURED: Costs = {
  gateMicros: 1350,
  serviceMicros: 253,
  databaseMicros: 629,
  rowsPerSale: 4,
  logBytesPerRow: 300,
  claimBytes: 200,
  claimSeconds: 150,
  saleBytes: 250,
  jobBytes: 136,
  shardJobs: 10_000_000,
};

/** What machines are like; assumptions, not measurements. */
export interface Machines {
  /** Share of its cores that a part is planned for; the rest is for peaks and for the death of a neighbour. */
  readonly utilization: number;
  readonly gateCores: number;
  readonly serviceCores: number;
  readonly databaseCores: number;
  /** Bytes a second of log that one database writes and its replicas take. */
  readonly databaseLogBytes: number;
  /** Connections that one database serves well. */
  readonly databaseConnections: number;
  /** Bytes that one database keeps in reach. */
  readonly databaseBytes: number;
  /** Days that a sale stays in the database before it is moved to files. */
  readonly bookDays: number;
  /** Gates of one region: what one address and one control plane carry. */
  readonly regionGates: number;
}

export const ASSUMED: Machines = {
  utilization: 0.6,
  gateCores: 16,
  serviceCores: 16,
  databaseCores: 32,
  databaseLogBytes: 400e6,
  databaseConnections: 2000,
  databaseBytes: 8e12,
  bookDays: 400,
  regionGates: 500,
};
