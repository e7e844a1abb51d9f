/**
 * Trials of the guarded client against real sockets, run as a process of its own under each runtime. Prints one JSON object:
 * what each trial came to, by its name.
 */
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { userAgentOf } from '../../../src/adapters/outbound/exchange.ts';
import { OutboundClient, type OutboundClientOptions } from '../../../src/adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { type NameResolver, type Resolved, SystemResolver } from '../../../src/adapters/outbound/resolver.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { targetList } from '../../../src/config/parsers.ts';
import type { OutboundRequest, OutboundResult } from '../../../src/outbound/outbound.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { redirectTarget } from '../../../src/outbound/redirect.ts';
import { wrongVerdicts } from '../../outbound/verdicts.ts';
import { selfSigned } from './certificate.ts';

/** How many times faster the deadlines of a client in haste run. */
const FASTER = 20;
const MIB = 1_048_576;

/** Timers of which those that are meant come early. */
const hastening = (isMeant: (delayMs: number) => boolean): Pick<OutboundClientOptions, 'timers'> => ({
  timers: {
    after(delayMs, run) {
      const timer = setTimeout(run, isMeant(delayMs) ? delayMs / FASTER : delayMs);
      return () => clearTimeout(timer);
    },
  },
});
const HASTE = hastening(() => true);
/** For the whole answer. */
const ANSWER_MS = 4000;

const listening = (server: Server, port = 0, host = '127.0.0.1'): Promise<number> =>
  new Promise((resolve) => server.listen(port, host, () => resolve((server.address() as AddressInfo).port)));

/** A listener that must see nothing. */
let canaryCount = 0;
const canary = (): Server =>
  createServer((socket) => {
    canaryCount++;
    socket.destroy();
  });

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const handled =
  (handle: Handle) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => handle(request, response, body));
  };

const web = (handle: Handle): Promise<number> => listening(createHttpServer(handled(handle)));

/** Answers every request with these bytes and what `then` does. */
const raw = (text: string | Buffer, then: (socket: Socket) => void = (socket) => void socket.end()): Promise<number> =>
  listening(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(text);
        then(socket);
      });
    }),
  );

const packed = (coding: string, bytes: Buffer): Promise<number> =>
  web((_, response) => response.writeHead(200, { 'content-encoding': coding }).end(bytes));

/** Names and what they resolve to, one list a look-up; the last one stays. */
class Names implements NameResolver {
  readonly asked: string[] = [];
  readonly #answers = new Map<string, (readonly string[])[]>();

  set(name: string, ...answers: (readonly string[])[]): this {
    this.#answers.set(name, answers);
    return this;
  }

  async resolve(name: string, signal: AbortSignal): Promise<Resolved> {
    this.asked.push(name);
    const answers = this.#answers.get(name);
    if (name === 'silent.test') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'timeout', code: 'ECANCELLED' };
    }
    const addresses = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    return addresses === undefined ? { kind: 'unknown', code: 'ENOTFOUND' } : { kind: 'addresses', addresses };
  }
}

const hookRequests: string[] = [];

interface Opened {
  readonly client: OutboundClient;
  send(url: string, members?: Partial<OutboundRequest>): Promise<OutboundResult>;
}

function opened(allow: string, resolver: NameResolver, options: Partial<OutboundClientOptions> = {}): Opened {
  const hookBaseUrl = 'https://hooks.example.com/pay';
  const client = new OutboundClient({
    policy: new OutboundPolicy({
      own: { urls: [], hookBaseUrl, listening: { ranges: [], port: 1 } },
      allow: targetList(allow),
    }),
    concurrency: 64,
    resolver,
    ownHooks: new OwnHooks(
      async (request, { address }) => {
        const { url, method, headers } = request;
        const shown = { url, method, address, type: headers.get('content-type'), from: headers.get('x-forwarded-for') };
        hookRequests.push(JSON.stringify({ ...shown, body: await request.text() }));
        return Response.json({ ok: true }, { status: 202 });
      },
      hookBaseUrl,
      userAgentOf(null),
    ),
    userAgent: userAgentOf(null),
    clock: systemClock,
    timers: systemTimers,
    ...options,
  });
  return {
    client,
    send(url, members = {}) {
      const judged = client.policy.judge(url, 'resolve');
      if (!judged.ok) throw new Error(`${url}: ${judged.reason}`);
      return client.send({
        target: judged.target,
        method: 'GET',
        headers: [],
        body: null,
        timeoutMs: 20_000,
        customer: 'a',
        wireBytesMax: 2 * MIB,
        unpackedBytesMax: 8 * MIB,
        ...members,
      });
    },
  };
}

/** A result as it is compared: the body as text or its length, no duration. */
function shown(result: OutboundResult): unknown {
  if (result.kind !== 'answer') return `${result.kind}: ${result.detail}`;
  const { status, body, isTruncated, isUnreadable } = result;
  const text = body.length > 100 ? `${body.length} bytes` : new TextDecoder().decode(body);
  return `${status} ${text}${isTruncated ? ' (cut)' : ''}${isUnreadable ? ' (unreadable)' : ''}`;
}

const names = new Names().set('ok.test', ['127.0.0.1']);
const anywhere = (port: number, options?: Partial<OutboundClientOptions>): Opened =>
  opened(`ok.test:${port}`, names, options);
const get = async (
  port: number,
  members?: Partial<OutboundRequest>,
  options?: Partial<OutboundClientOptions>,
): Promise<unknown> => shown(await anywhere(port, options).send(`http://ok.test:${port}/x?y=z`, members));
/** Of a client that gives up early: by this deadline alone, because a process that stood still runs late timers in any order. */
const getInHaste = (port: number): Promise<unknown> =>
  get(
    port,
    { timeoutMs: ANSWER_MS },
    hastening((delayMs) => delayMs === ANSWER_MS),
  );

const TEXT = Buffer.from('hello, '.repeat(1000));
const NOISE = new SeededRandom(1).bytes(300_000);

const TRIALS: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'sends what it is given, and its own headers'() {
    const port = await web((request, response, body) => {
      const pairs = [];
      for (let i = 0; i < request.rawHeaders.length; i += 2) {
        pairs.push(`${request.rawHeaders[i]?.toLowerCase()}: ${request.rawHeaders[i + 1]}`);
      }
      response.end(JSON.stringify({ line: `${request.method} ${request.url}`, headers: pairs.sort(), body }));
    });
    const result = await anywhere(port).send(`http://ok.test:${port}/a?b=c`, {
      method: 'PUT',
      body: Buffer.from('{"a":1}'),
      headers: [
        ['X-One', '1'],
        ['x-one', '2'],
        ['Content-Type', 'application/json'],
        ['Host', 'evil.test'],
        ['User-Agent', 'mine'],
        ['accept-encoding', 'zstd'],
        ['Connection', 'keep-alive'],
        ['Transfer-Encoding', 'chunked'],
        ['Proxy-Authorization', 'x'],
      ],
    });
    return result.kind === 'answer' ? new TextDecoder().decode(result.body).replaceAll(String(port), 'PORT') : result;
  },
  async 'keeps no cookies and no connection'() {
    const seen: unknown[] = [];
    const port = await web((request, response) => {
      seen.push([request.headers.cookie, request.headers.connection]);
      response.setHeader('set-cookie', ['a=1', 'b=2']).end('x');
    });
    const { send } = anywhere(port);
    const first = await send(`http://ok.test:${port}/`);
    await send(`http://ok.test:${port}/`);
    const cookies = first.kind === 'answer' ? first.headers.filter(([name]) => name === 'set-cookie') : [];
    return { seen, cookies };
  },
  async 'asks once, pins the answer, and sees no second one'() {
    const a = await web((_, response) => response.end('first'));
    await listening(canary(), a, '127.0.0.2');
    const rebinding = new Names().set('rebind.test', ['127.0.0.1'], ['127.0.0.2']);
    const { send, client } = opened(`127.0.0.1/32:${a}`, rebinding);
    const first = shown(await send(`http://rebind.test:${a}/`));
    const second = shown(await send(`http://rebind.test:${a}/`));
    const page = new Exposition();
    client.metrics(page);
    const counted = page.text
      .split('\n')
      .filter((line) => /^paygrade_outbound_(?:requests|blocked).*[1-9]$/.test(line));
    return { first, second, asked: rebinding.asked.length, counted };
  },
  async 'refuses a name with one address that is not allowed'() {
    const port = await listening(canary());
    const { send, client } = opened(`127.0.0.2/32:${port}`, new Names().set('mixed.test', ['127.0.0.2', '127.0.0.1']));
    const judged = client.policy.judge(`http://mixed.test:${port}/`, 'resolve');
    const looked = judged.ok ? await client.lookUp(judged.target) : judged;
    return [shown(await send(`http://mixed.test:${port}/`)), looked];
  },
  async 'tries the next address of a name'() {
    const port = await web((_, response) => response.end('ok'));
    const { send } = opened(`two.test:${port}`, new Names().set('two.test', ['127.0.0.3', '127.0.0.1']));
    return shown(await send(`http://two.test:${port}/`));
  },
  async 'follows no redirect, and the policy judges its target'() {
    const port = await listening(canary());
    const from = await web((_, response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end());
    const { send, client } = anywhere(from);
    const result = await send(`http://ok.test:${from}/`);
    const location = result.kind === 'answer' ? result.headers.find(([name]) => name === 'location')?.[1] : undefined;
    const judged = client.policy.judge(location ?? '', 'resolve');
    return [shown(result), judged.ok ? 'allowed' : judged.rule];
  },
  async 'leaves the body of a head that is enough'() {
    let closed = (): void => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const head = 'Location: /next\r\nContent-Length: 100\r\n\r\n';
    const from = await raw(`HTTP/1.1 302 Found\r\n${head}part`, (socket) => socket.on('close', closed));
    const endsAtHead: OutboundRequest['endsAtHead'] = ({ status, headers }) =>
      status === 302 && headers.some(([name, value]) => name === 'location' && value === '/next');
    const redirect = await get(from, { endsAtHead });
    await isClosed;
    return [redirect, await get(await web((_, response) => response.end('whole')), { endsAtHead })];
  },
  async 'uses no proxy of the environment'() {
    return get(await web((_, response) => response.end('direct')));
  },
  'ends a head that does not come': async () => getInHaste(await raw('', () => {})),
  async 'ends a body that drips'() {
    const drip = (socket: Socket): void => {
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('x')), 20);
    };
    return getInHaste(await raw('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', drip));
  },
  'takes a body that ends with its connection': async () => get(await raw('HTTP/1.1 200 OK\r\n\r\nwhole')),
  async 'ends such a body with its signal'() {
    const ending = new AbortController();
    const port = await raw('HTTP/1.1 200 OK\r\n\r\npart', () => setTimeout(() => ending.abort(), 300));
    return get(port, { signal: ending.signal });
  },
  'takes no such body that a reset ends': async () =>
    get(await raw('HTTP/1.1 200 OK\r\n\r\npart', (socket) => setTimeout(() => socket.resetAndDestroy(), 300))),
  async 'ends a head that drips'() {
    const drip = (socket: Socket): void => {
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('x')), 20);
    };
    return getInHaste(await raw('HTTP/1.1 200 OK\r\nX: ', drip));
  },
  'ends a handshake that does not come': async () => {
    const port = await raw('', () => {});
    return shown(await opened(`ok.test:${port}`, names, HASTE).send(`https://ok.test:${port}/`, { timeoutMs: 60_000 }));
  },
  'refuses a head over its bound': async () => get(await raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(33_000)}\r\n\r\n`)),
  'refuses a head of many lines': async () =>
    get(await raw(`HTTP/1.1 200 OK\r\n${'X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1000)}\r\n`)),
  'takes a head within its bound': async () =>
    get(await raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(30_000)}\r\nContent-Length: 2\r\n\r\nok`)),
  async 'keeps the last of many lines of a head'() {
    const port = await raw(
      `HTTP/1.1 200 OK\r\n${'X: a\r\n'.repeat(3000)}Location: /last\r\nContent-Length: 2\r\n\r\nok`,
    );
    const result = await anywhere(port).send(`http://ok.test:${port}/`);
    return result.kind === 'answer' ? result.headers.find(([name]) => name === 'location')?.[1] : shown(result);
  },
  async 'reads a location that is written in UTF-8'() {
    const port = await raw('HTTP/1.1 302 Found\r\nLocation: /stellen/café-中\r\nContent-Length: 0\r\n\r\n');
    const result = await anywhere(port).send(`http://ok.test:${port}/`);
    return result.kind === 'answer' ? redirectTarget(result, new URL('http://ok.test/'))?.pathname : shown(result);
  },
  'cuts a body over its bound on the wire': async () =>
    get(await web((_, response) => response.end(TEXT)), { wireBytesMax: 1000 }),
  'leaves a body at its bound whole': async () =>
    get(await web((_, response) => response.end(TEXT)), { wireBytesMax: TEXT.length }),
  async 'unpacks what comes before a cut'() {
    const result = await get(await packed('gzip', gzipSync(NOISE)), { wireBytesMax: 100_000 });
    return /^200 [0-9]{5,6} bytes \(cut\)$/.test(String(result)) ? 'a part' : result;
  },
  'unpacks gzip': async () => get(await packed('gzip', gzipSync(TEXT))),
  'unpacks deflate': async () => get(await packed('deflate', deflateSync(TEXT))),
  'unpacks raw deflate': async () => get(await packed('deflate', deflateRawSync(TEXT))),
  'unpacks br': async () => get(await packed('br', brotliCompressSync(TEXT))),
  'unpacks one on the other': async () => get(await packed('gzip, br', brotliCompressSync(gzipSync(TEXT)))),
  'unpacks an empty body': async () => get(await packed('gzip', Buffer.alloc(0))),
  'leaves bodies packed where that is asked': async () => {
    const wire = brotliCompressSync(gzipSync(NOISE));
    const chunked = await web((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip, br' });
      for (let at = 0; at < wire.length; at += 5000) response.write(wire.subarray(at, at + 5000));
      response.end();
    });
    const left = async (port: number, wireBytesMax: number): Promise<unknown> => {
      const result = await anywhere(port).send(`http://ok.test:${port}/`, { unpackedBytesMax: null, wireBytesMax });
      if (result.kind !== 'answer') return shown(result);
      const { body, codings, isTruncated, headers } = result;
      const isSame = Buffer.compare(body, wire.subarray(0, wireBytesMax)) === 0;
      const byteCount = body.length;
      structuredClone(body.buffer, { transfer: [body.buffer] });
      const isCoded = headers.some(([name]) => name === 'content-encoding');
      return [isSame, byteCount, codings, isTruncated, isCoded].join();
    };
    const ports = [await packed('gzip, br', wire), chunked];
    const found = await Promise.all(ports.flatMap((port) => [left(port, 2 * MIB), left(port, wire.length - 1)]));
    const expected = [0, 1, 0, 1].map((cut) => `true,${wire.length - cut},br,gzip,${cut === 1},false`);
    return JSON.stringify(found) === JSON.stringify(expected) ? 'as they came' : found;
  },
  'leaves another coding packed': async () => get(await packed('zstd', Buffer.from('packed'))),
  'leaves a transfer coding that was not asked for': async () =>
    get(await raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n6\r\npacked\r\n0\r\n\r\n')),
  'reads what an old server says is in no coding': async () =>
    get(await raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nplain')),
  'says that a coding is broken': async () => get(await packed('gzip', Buffer.from('no gzip at all'))),
  'says that Brotli is broken': async () => get(await packed('br', Buffer.from('no brotli at all'))),
  async 'tells a packed body that only the end of its connection ends, too early'() {
    const early = gzipSync(NOISE).subarray(0, -1000);
    return get(await raw(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n'), early])));
  },
  'tells a cut body': async () =>
    get(await raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc', (socket) => setTimeout(() => socket.end(), 20))),
  'tells a cut chunked body': async () =>
    get(await raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')),
  'tells a connection without an answer': async () => get(await raw('')),
  'tells what is no status': async () => get(await raw('HTTP/1.1 099 Low\r\nContent-Length: 1\r\n\r\nx')),
  'tells what is no HTTP': async () => get(await raw('SSH-2.0-x\r\n\r\n')),
  'tells an answer that switches protocols': async () =>
    get(await raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'), {
      timeoutMs: 4000,
    }),
  'passes over interim answers': async () =>
    get(await raw('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n')),
  'ends interim answers that are together longer than a head': async () =>
    get(await raw(`${'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'.repeat(1000)}HTTP/1.1 204 No Content\r\n\r\n`)),
  'tells a port without a listener': async () => get(1),
  async 'tells addresses to which there is no route'() {
    const limited = '255.255.255.255';
    const far = new Names().set('one.test', [limited]).set('two.test', [limited, limited]);
    const { send } = opened(`one.test:443,one.test:80,two.test:443,two.test:80,${limited}/32:443`, far);
    const urls = [
      'http://one.test/',
      'http://two.test/',
      'https://one.test/',
      'https://two.test/',
      `https://${limited}/`,
    ];
    return Promise.all(urls.map(async (url) => (await send(url)).kind));
  },
  async 'tells names without an address, and resolvers without an answer'() {
    const { send, client } = opened('', new Names(), HASTE);
    const silent = client.policy.judge('https://silent.test/', 'retry');
    const looked = silent.ok ? await client.lookUp(silent.target) : silent;
    return [shown(await send('https://unknown.test/')), shown(await send('https://silent.test/')), looked];
  },
  async 'checks the name of the certificate, and who signed it'() {
    const seen: string[] = [];
    const { key, certificate } = selfSigned('good.test');
    const server = createTlsServer(
      { key, cert: certificate },
      handled((request, response) => {
        seen.push(String(request.headers.host).split(':')[0] as string);
        response.end('secure');
      }),
    );
    const port = await listening(server);
    const plain = await web((_, response) => response.end('x'));
    const both = new Names().set('good.test', ['127.0.0.1']).set('wrong.test', ['127.0.0.1']);
    const allow = `good.test:${port},wrong.test:${port},127.0.0.1:${port},good.test:${plain}`;
    const trusting = opened(allow, both, { ca: certificate });
    return {
      good: shown(await trusting.send(`https://good.test:${port}/`)),
      wrongName: shown(await trusting.send(`https://wrong.test:${port}/`)),
      address: shown(await trusting.send(`https://127.0.0.1:${port}/`)),
      unknownAuthority: shown(await opened(allow, both).send(`https://good.test:${port}/`)),
      noTls: shown(await trusting.send(`https://good.test:${plain}/`)),
      seen,
    };
  },
  async 'ends with the signal of its caller, in flight and while it waits'() {
    const port = await raw('', () => {});
    const { send, client } = opened(`ok.test:${port}`, names, { concurrency: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = send(`http://ok.test:${port}/`, { signal: first.signal });
    const waiting = send(`http://ok.test:${port}/`, { signal: second.signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    second.abort();
    const results = [shown(await waiting)];
    first.abort();
    results.push(shown(await running));
    const page = new Exposition();
    client.metrics(page);
    return [results, page.text.match(/paygrade_outbound_(?:in_flight|waiting) \d/g)];
  },
  async 'says that it sends before the first byte leaves, and not at all where it is blocked'() {
    const events: string[] = [];
    const port = await web((_, response) => {
      events.push('arrived');
      response.end();
    });
    const onSent = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      events.push('sent');
    };
    await get(port, { onSent });
    const blocked = opened(`127.0.0.2/32:${port}`, names);
    await blocked.send(`http://ok.test:${port}/`, { onSent });
    const failed = await get(port, { onSent: () => Promise.reject(new Error('no record')) }).catch(String);
    return [events, failed];
  },
  async 'delivers to webhook addresses of this server inside the process'() {
    const { send } = opened('', new Names());
    const result = await send('https://hooks.example.com/pay/hooks/cb_1?a=b', {
      method: 'POST',
      body: Buffer.from('{"x":1}'),
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Forwarded-For', '1.2.3.4'],
      ],
    });
    return [shown(result), hookRequests];
  },
  async 'looks names up with a resolver that a deadline ends, the hosts file first'() {
    const dns = createSocket('udp4');
    let questionCount = 0;
    dns.on('message', (message, from) => {
      questionCount++;
      const length = message[12] ?? 0;
      const name = message.subarray(13, 13 + length).toString();
      const isA = message[message.indexOf(0, 12) + 2] === 1;
      if (name === 'silent' || (name === 'half' && !isA)) return;
      // Header of an answer without error, the question, and for A one record that points to the question's name.
      const end = message.indexOf(0, 12) + 5;
      const head = Buffer.from(message.subarray(0, 12));
      head.writeUInt16BE(name === 'none' ? 0x8183 : 0x8180, 2);
      head.writeUInt16BE(isA && name !== 'none' ? 1 : 0, 6);
      head.writeUInt32BE(0, 8);
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
      dns.send([head, message.subarray(12, end), ...(isA && name !== 'none' ? [record] : [])], from.port, from.address);
    });
    await new Promise<void>((resolve) => dns.bind(0, '127.0.0.1', resolve));
    const servers = [`127.0.0.1:${dns.address().port}`];
    const resolver = new SystemResolver({ clock: systemClock, timers: systemTimers, servers });
    const within = async (name: string, ms: number): Promise<unknown> => {
      const abort = new AbortController();
      const startMs = performance.now();
      const timer = setTimeout(() => abort.abort(), ms);
      const resolved = await resolver.resolve(name, abort.signal);
      clearTimeout(timer);
      return [resolved, performance.now() - startMs < ms + 5000];
    };
    const results = [
      await within('found.test', 2000),
      await within('none.test', 2000),
      await within('half.test', 2000),
      await within('silent.test', 100),
      await within('localhost', 100),
    ];
    dns.close();
    return [results, questionCount >= 7];
  },
  'judges the table of targets alike': async () => wrongVerdicts(),
};

/** Unpacks to 16 times what may be unpacked. Its making holds up the loop, so the others are over by then. */
async function bombed(): Promise<unknown> {
  const bomb = Buffer.alloc(128 * MIB);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const ports = [await packed('gzip', gzipSync(bomb)), await packed('br', brotliCompressSync(bomb, quick))];
  const beforeBytes = process.memoryUsage.rss();
  const results = [];
  for (let i = 0; i < 4; i++) results.push(await get(ports[i % 2] as number));
  const growthBytes = process.memoryUsage.rss() - beforeBytes;
  return [results, growthBytes < 96 * MIB ? 'bounded' : growthBytes];
}

const results = await Promise.all(
  Object.entries(TRIALS).map(async ([name, run]) => {
    try {
      return [name, await run()];
    } catch (failure) {
      return [name, `threw ${String(failure)}`];
    }
  }),
);
process.stdout.write(
  JSON.stringify({
    ...Object.fromEntries(results),
    'stops a bomb at its bound, in bounded memory': await bombed(),
    canaryCount,
  }),
  () => process.exit(0),
);
