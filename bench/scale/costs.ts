/**
 * What one paid request costs each part, as measured on the machine of docs/benchmarks.md (two shared virtual cores,
 * AMD EPYC), and assumptions where nothing here can be measured. To model another machine, change its figures here;
 * everything else follows.
 */
export interface Costs {
  /** Processor time of a gate for one paid request, µs: signature, claim, answer check, books (bench/split.ts). */
  readonly gateMicros: number;
  /** Of a jobs service for one question, µs (bench/split.ts). */
  readonly serviceMicros: number;
  /**
   * Of the database server for one sale, µs, with everything that it writes: claim, intent, transfer in the play ledger,
   * outcome and sale, each in its group with a commit, 32 payments under way (bench/postgres.ts: 629 on Node, 473 on Bun). Just
   * a claim, in a group of 64, takes 16, so larger groups cost less; that was not measured for whole sales.
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
  /** Jobs of the largest shard: the worst search takes 40 ms with ten million (bench/search.ts). */
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

/** Properties of machines; assumptions, not measurements. */
export interface Machines {
  /** Planned utilization of a part's cores; the rest is for peaks and for the failure of a neighbour. */
  readonly utilization: number;
  readonly gateCores: number;
  readonly serviceCores: number;
  readonly databaseCores: number;
  /** Bytes a second of log that one database writes and its replicas take. */
  readonly databaseLogBytes: number;
  /** Connections that one database serves well. */
  readonly databaseConnections: number;
  /** Bytes that one database can store. */
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
