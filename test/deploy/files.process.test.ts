/** The files of `deploy/`: what they say about this server is what it does. They are linted as far as this machine can. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FEED_BYTES_MAX, FEEDS_BYTES_MAX } from '../../src/adapters/boards/limits.ts';
import { IDLE_TIMEOUT_SECONDS } from '../../src/adapters/listen/limits.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { CREATION_BYTES_MAX, PAYLOAD_BYTES_MAX, WAIT_SECONDS_MAX } from '../../src/callback/limits.ts';
import { EXIT_USAGE } from '../../src/cli/command.ts';
import { watch } from '../../src/cli/watch.ts';
import { OFFER_HEADER_BYTES_MAX } from '../../src/payment/protocol/requirements.ts';
import { REQUEST_BYTES_MAX } from '../../src/retry/limits.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const isKnown = (name: string): boolean => CONFIGURATION.settings.some(({ variable }) => variable === name);
/** What starts without the packages of development, which the headers of the units remove. */
const { bin } = JSON.parse(textOf('package.json')) as { readonly bin: { readonly paygrade: string } };

describe('the systemd unit', () => {
  const unit = textOf('deploy/paygrade.service');
  const settings = Object.fromEntries(
    [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );

  it('sets variables that there are, to values that can be used', () => {
    const { NODE_ENV, XDG_CACHE_HOME, ...ours } = settings;
    expect(NODE_ENV).toBe('production');
    expect(XDG_CACHE_HOME).toBe('/var/cache');
    expect(unit).toContain('CacheDirectory=paygrade\n');
    expect(Object.keys(ours).filter((name) => !isKnown(name))).toEqual([]);
    expect(CONFIGURATION.read(ours).stateDir).toBe('/var/lib/paygrade');
    expect(unit).toContain('StateDirectory=paygrade');
  });

  it('starts what is there, reloads with SIGHUP, and does not try a bad configuration again', () => {
    expect(unit).toContain('npm run -s build && npm prune --omit=dev');
    const [, script = ''] = /^ExecStart=\S+ (\S+) serve$/m.exec(unit) ?? [];
    expect(script).toBe(bin.paygrade);
    expect(unit).toMatch(/^ExecReload=\S+ -HUP \$MAINPID$/m);
    expect(unit).toContain(`RestartPreventExitStatus=${EXIT_USAGE}\n`);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(10);
  });

  const hasLint = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.runIf(hasLint).each(['paygrade.service', 'paygrade-watch.service'])(
    'passes systemd-analyze verify: %s',
    (name) => {
      const folder = mkdtempSync(join(tmpdir(), 'paygrade-unit-'));
      const file = join(folder, name);
      writeFileSync(file, textOf(`deploy/${name}`).replace('/usr/bin/node', process.execPath));
      const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
      rmSync(folder, { recursive: true });
      // What it says of units of the machine is not about ours.
      const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('paygrade'));
      expect([status, about]).toEqual([0, []]);
    },
  );
});

describe('the systemd unit of the watch', () => {
  const unit = textOf('deploy/paygrade-watch.service');

  it('starts a command with options that there are, writes where it may, and does not try a bad configuration again', () => {
    const [, script = '', line = ''] = /^ExecStart=\S+ (\S+) watch (.*)$/m.exec(unit) ?? [];
    expect(script).toBe(bin.paygrade);
    const words = line.split(' ');
    const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
    expect(options.filter((name) => !(name in watch.options))).toEqual([]);
    const [, folder = ''] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
    for (const path of words.filter((word) => word.startsWith('/')))
      expect(path).toMatch(new RegExp(`^/var/lib/${folder}`));
    expect(unit).toContain(`RestartPreventExitStatus=${EXIT_USAGE}\n`);
  });
});

describe('the compose file', () => {
  const file = textOf('deploy/compose.yaml');

  it('sets variables that there are, and asks for each value that has no default', () => {
    const processes = file.slice(file.indexOf('x-process:'), file.indexOf('\nservices:'));
    const names = [...processes.matchAll(/^ {4}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);
    expect(names).toContain('DRAIN_SECONDS');
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
    const example = textOf('deploy/compose.env.example');
    const required = [...file.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name);
    expect(required.filter((name) => !new RegExp(`^${name}=`, 'm').test(example))).toEqual([]);
  });

  it('is given its values by every command of its header, which without them fails', () => {
    const commands = file.match(/docker compose .*$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(2);
    for (const command of commands) expect(command).toContain(' --env-file deploy/compose.env ');
  });

  it('lets a gate leave the proxy before it ends', () => {
    const seconds = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
    const drainSeconds = seconds(file, /DRAIN_SECONDS: "(\d+)"/);
    const proxy = textOf('deploy/fleet.Caddyfile');
    expect([...proxy.matchAll(/health_uri (\S+)/g)].map(([, uri]) => uri)).toEqual(['/ready', '/ready?only=process']);
    expect(drainSeconds).toBeGreaterThan(2 * seconds(proxy, /health_interval (\d+)s/));
    expect(seconds(file, /stop_grace_period: (\d+)s/)).toBeGreaterThan(drainSeconds + 10);
  });
});

function megabytesOf(unit: string, key: string): number {
  const [, amount, scale] = new RegExp(`^${key}=(\\d+)([MG])$`, 'm').exec(unit) ?? [];
  return Number(amount) * (scale === 'G' ? 1024 : 1);
}

describe('the bounds of memory', () => {
  it('throttle the unit between the shedding of its server and the kill', () => {
    const unit = textOf('deploy/paygrade.service');
    // From 92 % of the limit on, the server takes no payments.
    expect(megabytesOf(unit, 'MemoryHigh') / megabytesOf(unit, 'MemoryMax')).toBeGreaterThan(0.92);
    expect(megabytesOf(unit, 'MemoryHigh')).toBeLessThan(megabytesOf(unit, 'MemoryMax'));
  });

  it('leave room for the longest list of a board while it is parsed, and for the others beside it', () => {
    const unit = textOf('deploy/paygrade-watch.service');
    const mib = (FEEDS_BYTES_MAX + 8 * FEED_BYTES_MAX) / 1024 / 1024;
    expect(megabytesOf(unit, 'MemoryHigh')).toBeGreaterThan(mib);
    expect(megabytesOf(unit, 'MemoryHigh')).toBeLessThan(megabytesOf(unit, 'MemoryMax'));
  });
});

describe('the Dockerfile', () => {
  const file = textOf('deploy/Dockerfile');

  it('serves from the Node that the project is tested with, without the tools of development', () => {
    const { devDependencies } = JSON.parse(textOf('package.json')) as { devDependencies: Record<string, string> };
    const images = [...file.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(images)).toEqual(new Set([`node:${devDependencies.node}-bookworm-slim`]));
    expect(file).toContain('npm ci --omit=dev --ignore-scripts');
    expect(file).toMatch(/^USER node$/m);
    expect(file).toMatch(/^ENTRYPOINT \["node", "dist\/main\.js"\]$/m);
  });

  it('is healthy while the process answers: an outage of the facilitator is no reason to restart', () => {
    const [, path] =
      /^ {2}CMD \["node", "-e", "fetch\(`http:\/\/127\.0\.0\.1:\$\{process\.env\.PORT\}(\S+?)`\)/m.exec(file) ?? [];
    expect(path).toBe('/health');
  });

  it('copies what is there and not ignored, and sets variables that there are', () => {
    const ignored = textOf('deploy/Dockerfile.dockerignore').split('\n');
    expect(ignored[0]).toBe('*');
    for (const [, sources = ''] of file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const source of sources.split(' ')) {
        expect(existsSync(join(PROJECT, source)), source).toBe(true);
        expect(ignored).toContain(`!${source}`);
      }
    }
    const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(file) ?? [];
    const settings = Object.fromEntries([...block.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    const { NODE_ENV: _, ...ours } = settings;
    expect(Object.keys(ours).filter((name) => !isKnown(name))).toEqual([]);
    expect(CONFIGURATION.read(ours)).toMatchObject({ host: '0.0.0.0', stateDir: '/state' });
    expect(file).toContain(`EXPOSE ${CONFIGURATION.read(ours).port}\n`);
  });
});

describe.each(['nginx.conf', 'Caddyfile'])('%s', (name) => {
  const file = textOf(`deploy/${name}`);
  const secondsOf = (pattern: RegExp): number[] => [...file.matchAll(pattern)].map(([, seconds]) => Number(seconds));

  it('names variables that there are', () => {
    const named = [...file.matchAll(/\b([A-Z]+_[A-Z_]+)=/g)].map(([, variable = '']) => variable);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((variable) => !isKnown(variable))).toEqual([]);
  });

  it('waits longer than the longest silence', () => {
    const seconds = secondsOf(/(?:proxy_read_timeout|response_header_timeout|write) (\d+)s/g);
    expect(seconds.length).toBeGreaterThanOrEqual(2);
    expect(Math.min(...seconds)).toBeGreaterThan(2 * WAIT_SECONDS_MAX);
  });

  it('is told of a server that outlasts what nginx (60 s) and Caddy (120 s) keep by default', () => {
    expect(IDLE_TIMEOUT_SECONDS).toBeGreaterThan(120);
  });

  it('lets go of an idle connection before the server does, so that no request meets its end', () => {
    const [seconds] = secondsOf(name === 'nginx.conf' ? /^ {4}keepalive_timeout (\d+)s/gm : /keepalive (\d+)s/g);
    expect(seconds).toBeLessThan(IDLE_TIMEOUT_SECONDS - 5);
  });

  it('passes the largest payment, retry and webhook, and leaves one byte more to the server', () => {
    const sizes = [...file.matchAll(/(?:client_max_body_size|max_size) (\d+)[kK]/g)].map(
      ([, size]) => 1024 * Number(size),
    );
    const [creation, retry, webhook] = sizes.sort((a, b) => a - b);
    expect(sizes).toHaveLength(3);
    expect(creation).toBeGreaterThan(CREATION_BYTES_MAX);
    expect(retry).toBeGreaterThan(REQUEST_BYTES_MAX);
    expect(webhook).toBeGreaterThan(PAYLOAD_BYTES_MAX);
    const [, header] = /(?:large_client_header_buffers \d+|max_header_size) (\d+)[kK]/.exec(file) ?? [];
    expect(1024 * Number(header)).toBeGreaterThan(8192 + 1024);
  });

  it('says itself which address a client has', () => {
    expect(file).toMatch(/proxy_set_header X-Forwarded-For \$remote_addr;|header_up X-Forwarded-For \{remote_host\}/);
    expect(file).not.toMatch(/proxy_add_x_forwarded_for|trusted_proxies [^`]*\d/);
  });
});

describe('nginx.conf', () => {
  const file = textOf('deploy/nginx.conf');
  const kilobytes = (directive: string): number =>
    1024 * Number(new RegExp(`^ *${directive} (?:\\d+ )?(\\d+)k;$`, 'm').exec(file)?.[1]);

  it('has room for the headers of the largest offer', () => {
    expect(kilobytes('proxy_buffer_size')).toBeGreaterThan(OFFER_HEADER_BYTES_MAX + 1024);
    expect(kilobytes('proxy_buffers')).toBeGreaterThanOrEqual(kilobytes('proxy_buffer_size'));
  });

  it('repeats no payment and rewrites no path', () => {
    expect([...file.matchAll(/proxy_next_upstream off;/g)]).toHaveLength(2);
    // A slash behind the name would let nginx rewrite the path that a payment is for.
    expect(new Set([...file.matchAll(/proxy_pass (\S+);/g)].map(([, to]) => to))).toEqual(new Set(['http://paygrade']));
  });
});

describe('nftables.conf', () => {
  const hasNft = spawnSync('nft', ['--version']).error === undefined && process.getuid?.() === 0;
  if (!hasNft) console.log('skipping nft: apt-get install nftables, and root, bring what its test needs');
  it.runIf(hasNft)('is taken by nft, checked and not applied', () => {
    const { status, stderr } = spawnSync('nft', ['-c', '-f', join(PROJECT, 'deploy/nftables.conf')], {
      encoding: 'utf8',
    });
    // A container without the right to ask the kernel cannot check it.
    if (/Operation not permitted/.test(stderr)) return;
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('prometheus-rules.yml', () => {
  const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
  if (!hasPromtool) console.log('skipping promtool: apt-get install prometheus brings what its test needs');
  const promtool = (...words: string[]): { status: number | null; output: string } => {
    const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const rules = join(PROJECT, 'deploy', 'prometheus-rules.yml');

  it.runIf(hasPromtool)('is taken by Prometheus', () => {
    expect(promtool('check', 'rules', rules)).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
  });

  it.runIf(hasPromtool)('fires on trouble, and not on what ends by itself', () => {
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-rules-'));
    const file = join(folder, 'tests.yml');
    writeFileSync(file, textOf('test/deploy/prometheus-rules.test.yml').replace('RULES', rules));
    const { status, output } = promtool('test', 'rules', file);
    rmSync(folder, { recursive: true });
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
