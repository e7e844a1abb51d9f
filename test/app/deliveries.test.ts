import { beforeEach, describe, expect, it } from 'vitest';
import { Deliveries } from '../../src/app/deliveries.ts';
import { type AnswerBody, BodyPieces, Reply } from '../../src/http/answers.ts';
import { KeptBeginning, KeptJson } from '../../src/http/hot/kept-json.ts';
import { ManualTime } from '../support/manual-time.ts';

/** Two looks: the first one gives every answer its time. */
const LOOKED_MS = 400;
const SHORT_LOOKED_MS = 50;

const LONG = 'x'.repeat(16_385);
/** The longest answer that is looked at soon. */
const SHORT = LONG.slice(1);

describe('the watch over paid answers', () => {
  let time: ManualTime;
  let deliveries: Deliveries;
  let delivered: string[];
  let failures: unknown[];
  beforeEach(() => {
    time = new ManualTime();
    delivered = [];
    failures = [];
    deliveries = new Deliveries(time, (failure) => failures.push(failure));
  });

  /** Of a listener that hears nothing of answers that left. */
  function watch(name: string, signal?: AbortSignal, body: AnswerBody = LONG): void {
    deliveries.watch({ onDelivered: () => false, signal }, body, () => delivered.push(name));
  }

  it('takes an answer as delivered whose client was there a moment later', () => {
    const here = new AbortController();
    watch('here', here.signal);
    watch('without a client');
    time.pass(LOOKED_MS - 1);
    expect(delivered).toEqual([]);
    time.pass(1);
    expect(delivered).toEqual(['here', 'without a client']);
    here.abort();
    time.pass(LOOKED_MS);
    expect([delivered.length, time.pendingCount]).toEqual([2, 0]);
  });

  it.each([
    { whenMs: 0, because: 'its client had gone before' },
    { whenMs: LOOKED_MS - 1, because: 'its client went away meanwhile' },
  ])('never takes one as delivered of which $because', ({ whenMs }) => {
    const gone = new AbortController();
    watch('gone', gone.signal);
    time.pass(whenMs);
    gone.abort();
    time.pass(LOOKED_MS);
    expect([delivered, time.pendingCount]).toEqual([[], 0]);
  });

  const { bytes } = new KeptBeginning(SHORT);
  it.each<[string, AnswerBody]>([
    ['a text', SHORT],
    ['a text with a kept beginning', new KeptJson(new KeptBeginning(SHORT.slice(1)), '}')],
    ['bytes', new Reply(bytes, {})],
    ['nothing', new Reply(null, {})],
  ])('looks sooner at a short answer: %s', (_form, body) => {
    watch('long');
    watch('short', undefined, body);
    watch('gone', AbortSignal.abort(), body);
    time.pass(SHORT_LOOKED_MS - 1);
    expect(delivered).toEqual([]);
    time.pass(1);
    expect(delivered).toEqual(['short']);
    time.pass(LOOKED_MS - SHORT_LOOKED_MS);
    expect([delivered, time.pendingCount]).toEqual([['short', 'long'], 0]);
  });

  class Endless extends BodyPieces {
    next(): Uint8Array {
      return bytes;
    }
  }
  it.each<[string, AnswerBody]>([
    ['a text', LONG],
    ['bytes', new Reply(new Uint8Array(SHORT.length + 1), {})],
    ['one made while it is sent', new Reply(new Endless('one'), {})],
  ])('takes its time for a long answer: %s', (_form, body) => {
    watch('long', undefined, body);
    time.pass(LOOKED_MS - 1);
    expect(delivered).toEqual([]);
    time.pass(1);
    expect(delivered).toEqual(['long']);
  });

  it('looks at all of them when it is closed', () => {
    const gone = AbortSignal.abort();
    watch('earlier');
    time.pass(LOOKED_MS / 2);
    watch('fresh');
    watch('gone', gone);
    watch('short', undefined, SHORT);
    deliveries.close();
    expect([delivered, time.pendingCount]).toEqual([['short', 'earlier', 'fresh'], 0]);
  });

  it('leaves it to a listener that hears of it', () => {
    let left = (): void => {};
    const onDelivered = (listener: () => void): boolean => {
      left = listener;
      return true;
    };
    deliveries.watch({ onDelivered, signal: undefined }, LONG, () => delivered.push('heard'));
    time.pass(LOOKED_MS);
    expect([delivered, time.pendingCount]).toEqual([[], 0]);
    left();
    expect(delivered).toEqual(['heard']);
  });

  it('reports what goes wrong, and goes on', () => {
    const fail = (): void => {
      throw new Error('the books');
    };
    deliveries.watch({ onDelivered: () => false, signal: undefined }, LONG, fail);
    watch('next');
    deliveries.watch({ onDelivered: (listener) => [listener()].length > 0, signal: undefined }, LONG, fail);
    time.pass(LOOKED_MS);
    expect(failures.map((failure) => (failure as Error).message)).toEqual(['the books', 'the books']);
    expect(delivered).toEqual(['next']);
  });
});
