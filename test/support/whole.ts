/** What of a costly suite runs: a part in `npm test`, the whole in `npm run test:slow` (vitest.config.ts lists such suites). */
export const IS_WHOLE = process.env.PAYGRADE_TESTS === 'slow';
