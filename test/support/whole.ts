/** What of a costly suite runs: a part in `npm test`, the whole in `npm run test:slow`, which finds such suites by these names. */
export const IS_WHOLE = process.env.PAYGRADE_TESTS === 'slow';

/** Runs, rows or kills of a costly test: a sixth of them in `npm test` unless `part` says how many. */
export const partOf = (whole: number, part: number = Math.ceil(whole / 6)): number => (IS_WHOLE ? whole : part);
