/**
 * How much of a costly suite runs: a part in `npm test`, the whole in `npm run test:slow`, which finds such suites by
 * these names.
 */
export const IS_WHOLE = process.env.PAYGRADE_TESTS === 'slow';

/** Number of runs, rows or kills of a costly test: a sixth in `npm test` unless `part` is given. */
export const partOf = (whole: number, part: number = Math.ceil(whole / 6)): number => (IS_WHOLE ? whole : part);
