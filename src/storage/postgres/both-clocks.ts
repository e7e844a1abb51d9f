/**
 * SQL: the time that has passed by the database's clock and the process's. Either may be ahead, and what was paid for must not
 * end early.
 * @param processMs SQL expression, the time by the process's clock
 */
export const passedMs = (processMs: string): string => `least(paygrade.now_ms(), ${processMs}::bigint)`;

/**
 * SQL: the time now by the clock that is ahead. What is kept from now on is kept long enough, because the other one may be
 * behind.
 * @param processMs as of {@link passedMs}
 */
export const latestMs = (processMs: string): string => `greatest(paygrade.now_ms(), ${processMs}::bigint)`;
