/** The release, as in package.json (a test compares the two). */
export const VERSION = '0.1.0';

/** Version of the contract that `/openapi.json` describes (callback.md, Versioning); independent of the release. */
export const API_VERSION = '1.0.0';
