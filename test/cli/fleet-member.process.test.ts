/** One process of `fleet`. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Member } from '../../src/cli/fleet/member.ts';
import { MAIN } from '../support/server.ts';
import { until } from '../support/until.ts';
import { capturedIo } from './captured-io.ts';

const [, ownEntry = ''] = process.argv;
beforeEach(() => {
  process.argv[1] = MAIN; // what a member starts
});
afterEach(() => {
  process.argv[1] = ownEntry;
});

it('is started once when a restart is asked for in the pause after its death', async () => {
  const { io, written } = capturedIo({});
  const variables = { SNAPSHOT: 'none', STATE_DIR: ':memory:' };
  const member = new Member({ name: 'gate 1', variables, io: { ...io, env: { PATH: process.env.PATH } } });
  await member.start();
  process.kill(member.processId ?? 0, 'SIGKILL');
  await until('its end', () => written.stderr.includes('is started again'));
  await member.restart();
  const { processId } = member;
  // Longer than the pause, and than a start that finds its port taken.
  await pause(2000);
  expect(member.processId).toBe(processId);
  expect(written.stderr.split('\n').filter((line) => line.startsWith('gate 1 ended'))).toHaveLength(1);
  expect((await fetch(`http://127.0.0.1:${member.port}/health`)).status).toBe(200);
  await member.stop();
  await expect(fetch(`http://127.0.0.1:${member.port}/health`)).rejects.toThrow();
});

it('stays stopped when that is asked for while it is restarted', async () => {
  const { io, written } = capturedIo({});
  const variables = { SNAPSHOT: 'none', STATE_DIR: ':memory:' };
  const member = new Member({ name: 'gate 1', variables, io: { ...io, env: { PATH: process.env.PATH } } });
  await member.start();
  const { processId } = member;
  const restarting = member.restart();
  await member.stop();
  await restarting;
  expect(member.processId).toBe(processId);
  expect(written.stderr).not.toContain('is started again');
});
