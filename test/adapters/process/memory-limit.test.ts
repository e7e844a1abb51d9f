/** The limit of memory that the machine or its container sets (decisions §4). */
import { describe, expect, it } from 'vitest';
import { cgroupLimitBytes, defaultMemoryLimitBytes } from '../../../src/adapters/process/memory-limit.ts';

const TOTAL = 16_000_000_000;
const V1_UNLIMITED = '9223372036854771712\n';

type Files = Readonly<Record<string, string>>;

const CASES: readonly (readonly [because: string, files: Files, limit: number | undefined])[] = [
  ['no cgroups', {}, undefined],
  ['cgroup v2 without a limit', { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': 'max\n' }, undefined],
  [
    'cgroup v2 in a container',
    { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': '536870912\n' },
    536_870_912,
  ],
  [
    'a systemd unit',
    {
      '/proc/self/cgroup': '0::/system.slice/paygrade.service\n',
      '/sys/fs/cgroup/system.slice/paygrade.service/memory.max': '1000000000\n',
      '/sys/fs/cgroup/system.slice/memory.max': 'max\n',
    },
    1_000_000_000,
  ],
  [
    'a group around it that has less',
    {
      '/proc/self/cgroup': '0::/system.slice/paygrade.service\n',
      '/sys/fs/cgroup/system.slice/paygrade.service/memory.max': '1000000000\n',
      '/sys/fs/cgroup/system.slice/memory.max': '400000000\n',
    },
    400_000_000,
  ],
  [
    'cgroup v1',
    {
      '/proc/self/cgroup': '9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n',
      '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': '300000000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': V1_UNLIMITED,
    },
    300_000_000,
  ],
  [
    'cgroup v1 in a container that sees the path of its host',
    {
      '/proc/self/cgroup': '4:memory:/docker/abc\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '300000000\n',
    },
    300_000_000,
  ],
  [
    'cgroup v1 without a limit',
    { '/proc/self/cgroup': '4:memory:/\n', '/sys/fs/cgroup/memory/memory.limit_in_bytes': V1_UNLIMITED },
    undefined,
  ],
  [
    'a limit above what the machine has',
    { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': String(TOTAL + 1) },
    undefined,
  ],
  [
    'a path above the namespace, and one with a colon',
    { '/proc/self/cgroup': '0::/../a:b\n', '/sys/fs/cgroup/a:b/memory.max': '200000000' },
    200_000_000,
  ],
  [
    'a limit of nothing, and no number',
    { '/proc/self/cgroup': '0::/a\n', '/sys/fs/cgroup/a/memory.max': '0', '/sys/fs/cgroup/memory.max': '1e9' },
    undefined,
  ],
];

describe('the limit of the cgroup', () => {
  it.each(CASES)('%s', (_, files, limit) => {
    expect(cgroupLimitBytes(TOTAL, (path) => files[path])).toBe(limit);
  });

  it('or three quarters of the machine are what this process has', () => {
    const limit = defaultMemoryLimitBytes();
    expect(limit).toBeGreaterThan(process.memoryUsage.rss());
    expect(Number.isSafeInteger(limit)).toBe(true);
  });
});
