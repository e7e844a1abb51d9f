/** The release, as in package.json (a test holds the two together). */
export const VERSION = '0.1.0';

/** The contract's own (callback.md, Versioning): what `/openapi.json` describes, whatever release serves it. */
export const API_VERSION = '1.0.0';
