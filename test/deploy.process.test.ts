/** The files under `deploy/`: what they say about this server is what it does. They are linted as far as this machine can. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { IDLE_TIMEOUT_SECONDS } from '../src/adapters/listen/limits.ts';
import { CONFIGURATION } from '../src/app/configuration.ts';
import { PAYLOAD_BYTES_MAX, WAIT_SECONDS_MAX } from '../src/callback/limits.ts';
import { EXIT_USAGE } from '../src/cli/command.ts';
import { OFFER_HEADER_BYTES_MAX } from '../src/payment/protocol/requirements.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const isKnown = (name: string): boolean => CONFIGURATION.settings.some(({ variable }) => variable === name);

describe('the systemd unit', () => {
  const unit = textOf('deploy/paygrade.service');
  const settings = Object.fromEntries(
    [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );

  it('sets variables that there are, to values that can be used', () => {
    const { NODE_ENV, ...ours } = settings;
    expect(NODE_ENV).toBe('production');
    expect(Object.keys(ours).filter((name) => !isKnown(name))).toEqual([]);
    expect(CONFIGURATION.read(ours).stateDir).toBe('/var/lib/paygrade');
    expect(unit).toContain('StateDirectory=paygrade');
  });

  it('starts what is there, reloads with SIGHUP, and does not try a bad configuration again', () => {
    const [, script = ''] = /^ExecStart=\S+ (\S+) serve$/m.exec(unit) ?? [];
    expect(existsSync(join(PROJECT, script))).toBe(true);
    expect(unit).toMatch(/^ExecReload=\S+ -HUP \$MAINPID$/m);
    expect(unit).toContain(`RestartPreventExitStatus=${EXIT_USAGE}\n`);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(10);
  });

  const hasLint = spawnSync('systemd-analyze', ['--version']).status === 0;
  it.runIf(hasLint)('passes systemd-analyze verify', () => {
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-unit-'));
    const file = join(folder, 'paygrade.service');
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    // What it says of units of the machine is not about ours.
    const about = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('paygrade'));
    expect([status, about]).toEqual([0, []]);
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

describe('the nginx example', () => {
  const file = textOf('deploy/nginx.conf');
  const kilobytes = (directive: string): number =>
    1024 * Number(new RegExp(`^ *${directive} (?:\\d+ )?(\\d+)k;$`, 'm').exec(file)?.[1]);

  it('has room for the largest offer, the largest payment and the largest webhook', () => {
    expect(kilobytes('proxy_buffer_size')).toBeGreaterThan(OFFER_HEADER_BYTES_MAX + 1024);
    expect(kilobytes('proxy_buffers')).toBeGreaterThanOrEqual(kilobytes('proxy_buffer_size'));
    expect(kilobytes('large_client_header_buffers')).toBeGreaterThan(8192 + 1024);
    expect(kilobytes('client_max_body_size')).toBeGreaterThan(PAYLOAD_BYTES_MAX);
  });

  it('waits longer than the longest silence, and repeats no payment', () => {
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(file)?.[1]);
    expect(seconds).toBeGreaterThan(2 * WAIT_SECONDS_MAX);
    // nginx keeps an upstream connection for 60 s, Caddy for 120 s; the server must not close it first.
    expect(IDLE_TIMEOUT_SECONDS).toBeGreaterThan(120);
    expect(file).toContain('proxy_next_upstream off;');
    // A slash behind the name would let nginx rewrite the path that a payment is for.
    expect([...file.matchAll(/proxy_pass (\S+);/g)].map(([, target]) => target)).toEqual([
      'http://paygrade',
      'http://paygrade',
    ]);
    for (const [, name = ''] of file.matchAll(/\b([A-Z]+_[A-Z_]+)=/g)) expect(isKnown(name), name).toBe(true);
  });
});
