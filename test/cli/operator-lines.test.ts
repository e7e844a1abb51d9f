import { describe, expect, it } from 'vitest';
import { OperatorLines } from '../../src/cli/operator-lines.ts';
import { capturedIo, NOW_MS } from './captured-io.ts';

const catalogue = { activeJobs: 12_345, companies: 1 };
const started = { version: '1.2.3', processId: 4711, docs: 'https://pay.example/docs', catalogue };

function told(isTerminal: boolean): { stdout: string; lines: string[] } {
  const { io, written } = capturedIo({ isTerminal });
  const lines = new OperatorLines(io);
  lines.notice('play money');
  lines.started(started);
  lines.started({ ...started, docs: undefined, catalogue: undefined });
  lines.demoKey('svc_key_made-up');
  lines.reloaded(catalogue);
  lines.reloaded({ activeJobs: 1, companies: 2 });
  lines.reloadFailed('x.snap: is damaged', true);
  lines.reloadFailed('x.snap: is damaged', false);
  lines.reloadFailed('x.snap: is damaged', undefined);
  lines.snapshotFault('http://files.example/x.snap: answered 500');
  return { stdout: written.stdout, lines: written.stderr.trimEnd().split('\n') };
}

describe('what the server tells its operator', () => {
  it('is text at a terminal, with the pid, the jobs, the companies and the reference', () => {
    expect(told(true)).toEqual({
      stdout: '',
      lines: [
        'play money',
        'paygrade 1.2.3, pid 4711: 12,345 active jobs, 1 company; reference: https://pay.example/docs; ' +
          '`kill -HUP 4711` or `npm run -s paygrade -- reload` loads the catalogue again',
        expect.stringMatching(/^paygrade 1\.2\.3, pid 4711: no catalogue; `kill /),
        'key of the organization demo, shown once (10,000 credits, with SETTLEMENT=local only): svc_key_made-up',
        'the catalogue was reloaded: 12,345 active jobs, 1 company',
        'the catalogue was reloaded: 1 active job, 2 companies',
        'catalogue reload failed; still serving the previous one: x.snap: is damaged',
        'catalogue reload failed, and the previous one was overwritten in place: what its file holds is refused: x.snap: is damaged',
        'catalogue reload failed; no catalogue is served until one can be loaded: x.snap: is damaged',
        'SNAPSHOT: http://files.example/x.snap: answered 500',
      ],
    });
  });

  it('warns of each catalogue without an active job', () => {
    const { io, written } = capturedIo({ isTerminal: true });
    const lines = new OperatorLines(io);
    const empty = { activeJobs: 0, companies: 3 };
    lines.started({ ...started, catalogue: empty });
    lines.reloaded(catalogue);
    lines.reloaded(empty);
    expect(written.stderr.match(/^the catalogue has no active job: /gm)).toHaveLength(2);
  });

  it('is JSON lines where stdout is no terminal', () => {
    const { stdout, lines } = told(false);
    expect(stdout).toBe('');
    const time = new Date(NOW_MS).toISOString();
    const about = { version: '1.2.3', pid: 4711 };
    const docs = 'https://pay.example/docs';
    const counts = { active_jobs: 12_345, companies: 1 };
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { time, level: 'warn', message: 'play money' },
      { time, level: 'info', message: 'the server has started', ...about, docs, ...counts },
      { time, level: 'info', message: 'the server has started', ...about },
      {
        time,
        level: 'info',
        message: 'key of the organization demo, shown once',
        organization: 'demo',
        credits: 10_000,
        key: 'svc_key_made-up',
      },
      { time, level: 'info', message: 'the catalogue was reloaded', ...counts },
      { time, level: 'info', message: 'the catalogue was reloaded', active_jobs: 1, companies: 2 },
      {
        time,
        level: 'error',
        message: 'catalogue reload failed; still serving the previous one',
        reason: 'x.snap: is damaged',
      },
      {
        time,
        level: 'error',
        message:
          'catalogue reload failed, and the previous one was overwritten in place: what its file holds is refused',
        reason: 'x.snap: is damaged',
      },
      {
        time,
        level: 'error',
        message: 'catalogue reload failed; no catalogue is served until one can be loaded',
        reason: 'x.snap: is damaged',
      },
      { time, level: 'error', message: 'SNAPSHOT: http://files.example/x.snap: answered 500' },
    ]);
  });
});
