/**
 * node:http and node:https, loaded at the first call. Not by `import`: Node then reads every export of the module, and two of
 * them load undici, a third of what a start would take (bench/start.ts).
 */
import type http from 'node:http';
import type https from 'node:https';

export const nodeHttp = (): typeof http => process.getBuiltinModule('node:http');

export const nodeHttps = (): typeof https => process.getBuiltinModule('node:https');
