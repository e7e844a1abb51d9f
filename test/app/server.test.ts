/** The lifecycle of all components: one that fails at shutdown stops no other. */
import { describe, expect, it } from 'vitest';
import { Server } from '../../src/app/server.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

function opened(names: readonly string[] = []) {
  const reported: unknown[] = [];
  const time = new ManualTime();
  const server = new Server(time, names, (failure) => reported.push(failure));
  return { server, reported, time };
}

const fail = (): never => {
  throw new Error('disk');
};

describe('the components of a server', () => {
  it('close last first; a close that throws or rejects is reported and stops no other', async () => {
    const { server, reported } = opened();
    const closed: string[] = [];
    server.add({ close: () => void closed.push('first') });
    server.add({ close: fail });
    server.add({ close: () => Promise.reject(new Error('network')) });
    server.add({ close: async () => void closed.push('last') });
    await server.close();
    await server.close();
    expect(closed).toEqual(['last', 'first']);
    expect(reported).toEqual([new Error('network'), new Error('disk')]);
  });

  it('are closed when a second close resolves that came during the first', async () => {
    const { server } = opened();
    let isClosed = false;
    server.add({
      async close() {
        await settle();
        isClosed = true;
      },
    });
    void server.close();
    await server.close();
    expect(isClosed).toBe(true);
  });

  it('all begin the shutdown, even when one fails to', () => {
    const { server, reported } = opened();
    const drained: string[] = [];
    server.add({ drain: fail });
    server.add({ drain: () => void drained.push('second') });
    server.drain();
    expect([drained, reported]).toEqual([['second'], [new Error('disk')]]);
  });

  it('are ready under one name when all that report it are', () => {
    const { server } = opened();
    server.add({ readiness: () => ({ state: true, network: false }) });
    server.add({ readiness: () => ({ state: true, network: true }) });
    server.add({});
    expect(server.readiness()).toEqual({ state: true, network: false });
  });

  it('write fifty pages of metrics a second, however often a page is asked for', () => {
    const { server, time } = opened();
    let written = 0;
    server.add({ metrics: (page) => page.single('paygrade_written', 'gauge', 'Pages so far.', ++written) });
    const pages = Array.from({ length: 400 }, () => server.metricsText());
    expect(new Set(pages).size).toBe(50);
    expect(pages.at(-1)).toMatch(/^paygrade_written 50$/m);
    time.pass(1000);
    expect(server.metricsText()).toMatch(/^paygrade_written 51$/m);
  });

  it('do not start when one reports a name that no module lists', () => {
    const { server } = opened(['state']);
    server.add({ readiness: () => ({ state: true, network: true }) });
    expect(() => server.start()).toThrow('a module reports the readiness of network but does not list it');
  });
});
