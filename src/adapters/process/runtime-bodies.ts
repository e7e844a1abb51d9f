/** How this runtime handles bodies, as the app's ports of the same names describe it. */
const isBun = 'Bun' in globalThis;

export const RUNTIME_BODIES = { copiesIntoResponse: isBun, buffersBodies: isBun };
