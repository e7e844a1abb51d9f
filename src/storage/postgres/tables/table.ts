/**
 * One domain's part of the database: its tables and their migrations. A new domain is a file beside this one and a line
 * in tables.ts.
 */
export interface DomainTables {
  /** Name of the domain; it never changes. */
  readonly name: string;
  /**
   * Each entry migrates the tables to the next version, in one transaction; entries are only ever added. Statements of
   * an entry are separated by semicolons. All names are in the schema `paygrade`.
   */
  readonly migrations: readonly string[];
}
