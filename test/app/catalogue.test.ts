/** The catalogue as a component: the first one becomes warm while it is served. */
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/app/catalogue.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { ServedCatalogue } from '../../src/catalogue/holder.ts';
import { openColumns, openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { buildSample, sampleSource } from '../../src/ingest/synth/sample.ts';
import { headerOf } from '../support/altered-snapshot.ts';
import { ManualTime } from '../support/manual-time.ts';

const NOW_MS = Date.UTC(2026, 0, 10);
const sample = buildSample(NOW_MS);

const servedSample = (): ServedCatalogue => ({
  catalogue: new Catalogue(openSnapshot(sampleSource(sample))),
  isSynthetic: true,
});

const opened = () => openedFrom(servedSample);

function openedFrom(serve: () => ServedCatalogue) {
  const loaded: ServedCatalogue[] = [];
  const load = (): ServedCatalogue => {
    const served = serve();
    loaded.push(served);
    return served;
  };
  const source = { load, reload: async () => load(), discard: () => {}, close: async () => {} };
  const time = new ManualTime();
  const damages: string[] = [];
  const failures: unknown[] = [];
  const ports = {
    ...{ clock: time, timers: time, onCatalogue: expect.unreachable },
    onDamagedCatalogue: (reason: string) => void damages.push(reason),
    onFailure: (failure: unknown) => void failures.push(failure),
  };
  const options = { isExpected: true, pollMs: undefined };
  return { damages, failures, loaded, time, ...openCatalogue(source, options, ports) };
}

const indexesOf = ({ catalogue }: ServedCatalogue): unknown[] => Object.values(catalogue.byCompany.built);
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

it('is ready before it is warm, and warm some turns later, a part in each', async () => {
  const { component, loaded, time } = opened();
  const [first] = loaded as [ServedCatalogue];
  component.start?.();
  expect(component.readiness?.()).toEqual({ snapshot: true });
  time.pass(499);
  await turns(3);
  expect(indexesOf(first)).toEqual([undefined, undefined, undefined]);
  time.pass(1);
  await turns(1);
  expect(indexesOf(first).filter((index) => index === undefined)).toHaveLength(2);
  await turns(20);
  expect(indexesOf(first)).not.toContain(undefined);
  await component.close?.();
});

it('is left as it is once another one is served', async () => {
  const { component, holder, loaded, time } = opened();
  component.start?.();
  time.pass(500);
  await holder.reload();
  const [first] = loaded as [ServedCatalogue];
  const before = indexesOf(first);
  expect(before).toContain(undefined);
  await turns(12);
  expect(indexesOf(first)).toEqual(before);
  await component.close?.();
});

it('is left cold at a shutdown', async () => {
  const { component, loaded, time } = opened();
  component.start?.();
  component.drain?.();
  expect(time.pendingCount).toBe(0);
  time.pass(1000);
  await turns(12);
  expect(indexesOf(loaded[0] as ServedCatalogue)).toEqual([undefined, undefined, undefined]);
  await component.close?.();
});

describe('a catalogue of which only the columns were checked', () => {
  /** @param name of the section that has a wrong byte */
  function openedWith(name: string) {
    const bytes = Uint8Array.from(sample);
    const { offset } = headerOf(bytes).sections.find((section) => section.name === name)!;
    bytes[offset]! ^= 1;
    const serve = () => ({ catalogue: new Catalogue(openColumns(sampleSource(bytes))), isSynthetic: true });
    return openedFrom(serve);
  }

  it.each(['setLists', 'coldText', 'descriptionBlocks', 'historyKinds'])(
    'is reported once when %s turns out to be damaged, and is not ready from then on (reliability 251)',
    async (name) => {
      const { component, damages, time } = openedWith(name);
      component.start?.();
      expect(component.readiness?.()).toEqual({ snapshot: true });
      time.pass(500);
      await turns(300);
      expect(damages).toEqual([expect.stringMatching(new RegExp(`^the sample: [^\\n]*${name}[^\\n]*$`))]);
      expect(component.readiness?.()).toEqual({ snapshot: false });
      await component.close?.();
    },
  );

  /** @param name of the section that the disk does not read */
  function openedOnBrokenDisk(name: string, failure: Error, isUnchanged = true) {
    const { offset } = headerOf(sample).sections.find((section) => section.name === name)!;
    const source = sampleSource(sample);
    const broken = {
      ...source,
      isUnchanged: () => isUnchanged,
      readInto(at: number, into: Uint8Array): number {
        if (at <= offset && offset < at + into.length) throw failure;
        return source.readInto(at, into);
      },
    };
    return openedFrom(() => ({ catalogue: new Catalogue(openColumns(broken)), isSynthetic: true }));
  }

  it('ends the start with one line, and reports why, when it cannot be read', async () => {
    const failure = new Error('EIO: i/o error, read\nmore');
    const { component, damages, failures, time } = openedOnBrokenDisk('setLists', failure);
    component.start?.();
    time.pass(500);
    await turns(300);
    expect(failures).toEqual([failure]);
    expect(damages).toEqual(['the catalogue cannot be checked: EIO: i/o error, read']);
    expect(component.readiness?.()).toEqual({ snapshot: false });
    await component.close?.();
  });

  it('is not said to be damaged when its file has changed since the start', async () => {
    const { component, damages, failures, time } = openedOnBrokenDisk('setLists', new Error('gone'), false);
    component.start?.();
    time.pass(500);
    await turns(300);
    expect(damages).toEqual([]);
    expect(failures).toEqual([]);
    await component.close?.();
  });

  it('is sold from when it is whole and cannot be warmed, which is reported', async () => {
    const failure = new RangeError('Array buffer allocation failed');
    class Cold extends Catalogue {
      // biome-ignore lint/correctness/useYield: it fails before its first step
      override *warming(): ReturnType<Catalogue['warming']> {
        throw failure;
      }
    }
    const { component, damages, failures, time } = openedFrom(() => ({
      catalogue: new Cold(openColumns(sampleSource(sample))),
      isSynthetic: true,
    }));
    component.start?.();
    time.pass(500);
    await turns(300);
    expect(failures).toEqual([failure]);
    expect(damages).toEqual([]);
    expect(component.readiness?.()).toEqual({ snapshot: true });
    await component.close?.();
  });

  it('is checked, and then warm, when all of it is whole', async () => {
    const { component, damages, loaded, time } = openedFrom(() => ({
      catalogue: new Catalogue(openColumns(sampleSource(sample))),
      isSynthetic: true,
    }));
    component.start?.();
    time.pass(500);
    await turns(300);
    expect(damages).toEqual([]);
    expect(component.readiness?.()).toEqual({ snapshot: true });
    expect(indexesOf(loaded[0] as ServedCatalogue)).not.toContain(undefined);
    await component.close?.();
  });
});
