/**
 * Runtime modules that a server does not need at its start, loaded at the first call (bench/start.ts). Not by `import()`: Node
 * would then read every export of the module, and two of node:http's load undici, a third of the time of a start.
 */
import type dns from 'node:dns/promises';
import type http from 'node:http';
import type https from 'node:https';
import type net from 'node:net';
import type stream from 'node:stream';
import type v8 from 'node:v8';
import type vm from 'node:vm';
import type zlib from 'node:zlib';

export const nodeDns = (): typeof dns => process.getBuiltinModule('node:dns/promises');

export const nodeHttp = (): typeof http => process.getBuiltinModule('node:http');

export const nodeHttps = (): typeof https => process.getBuiltinModule('node:https');

export const nodeNet = (): typeof net => process.getBuiltinModule('node:net');

export const nodeStream = (): typeof stream => process.getBuiltinModule('node:stream');

export const nodeV8 = (): typeof v8 => process.getBuiltinModule('node:v8');

export const nodeVm = (): typeof vm => process.getBuiltinModule('node:vm');

export const nodeZlib = (): typeof zlib => process.getBuiltinModule('node:zlib');
