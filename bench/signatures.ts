/**
 * The cost of one verification: the recovery alone by either library, the whole payment header with each, and its signature on a
 * worker thread.
 *
 *   node bench/signatures.ts [--rounds 7] [--json]        the same under bun
 *
 * Variants take turns round by round; a figure is the median of its rounds. Times are processor time of the process with all its
 * threads, which a busy machine disturbs less; on Linux in steps of microseconds. The bench checks the answers first.
 *
 * Measured before: a recovery by noble takes about 1.1 ms on Node 26 and 0.46 ms on Bun 1.4, a struct's digest 15 and 11 µs.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { chooseRecovery, type RecoverSigner } from '../src/adapters/verification/recovery.ts';
import { RecoveryThread } from '../src/adapters/verification/recovery-thread.ts';
import { loadWasmKeccak } from '../src/adapters/verification/wasm-keccak.ts';
import { systemClock } from '../src/base/clock.ts';
import { authorizationStruct, checkPayment, signerFault } from '../src/payment/protocol/authorization.ts';
import { decodePayment } from '../src/payment/protocol/envelope.ts';
import { BASE } from '../src/payment/protocol/network.ts';
import { digestOf } from '../src/payment/protocol/typed-data.ts';
import { noblePublicKey } from '../src/payment/signature/noble-recovery.ts';
import { checkedRecovery, type Recover, type Recovered } from '../src/payment/signature/signature.ts';
import { NOW_MS, searchOffer, signedPayment } from '../test/payment/fixture.ts';
import { encodeHeader } from '../test/support/wallet.ts';
import { cpuMicros, median, RUNTIME } from './harness.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' }, json: { type: 'boolean' } } });
const rounds = Number(values.rounds);

const { library, publicKeyOf, recoverSigner } = await chooseRecovery('auto', systemClock);
if (library === 'noble') throw new Error('the faster library is not there');
const keccak256 = await loadWasmKeccak();
const noble = checkedRecovery(noblePublicKey);
const faster = checkedRecovery(publicKeyOf);

/** Number of different payments, so that no cache answers. */
const COUNT = 16;
const headers: string[] = [];
for (let i = 0; i < COUNT; i++) headers.push(encodeHeader(await signedPayment()));

function parsed(header: string) {
  const decoded = decodePayment(header, BASE.id);
  if (!decoded.ok) throw new Error(decoded.message);
  const checked = checkPayment(decoded.payment, searchOffer, NOW_MS);
  if (!checked.ok) throw new Error(checked.message);
  return checked;
}

const jobs = headers.map((header) => {
  const { authorization, signature } = parsed(header);
  const struct = authorizationStruct(authorization, BASE);
  return { authorization, signature, struct, digest: digestOf(struct) };
});
for (const { authorization, signature, digest } of jobs) {
  deepStrictEqual(faster(digest, signature), noble(digest, signature));
  deepStrictEqual(signerFault(authorization, faster(digest, signature)), undefined);
}

/** An r that is the x of no point: refused before the expensive part. */
const garbage = jobs.map(({ digest, signature }) => {
  const changed = Uint8Array.from(signature); // `slice` of a Buffer is a view
  changed.fill(0, 0, 31);
  changed[31] = 5;
  return { digest, signature: changed };
});

const whole = (recoverSigner: RecoverSigner) => (): void => {
  for (const header of headers) {
    const { authorization, signature } = parsed(header);
    if (signerFault(authorization, recoverSigner(authorizationStruct(authorization, BASE), signature)) !== undefined) {
      throw new Error('refused');
    }
  }
};
const alone =
  (recover: Recover, of: readonly { digest: Uint8Array; signature: Uint8Array }[] = jobs) =>
  (): void => {
    for (const { digest, signature } of of) recover(digest, signature);
  };

const thread = new RecoveryThread({ signatures: 'auto' }, { timers: systemTimers, onChange: () => {} });
await thread.open();
const onThread = async (width: number): Promise<void> => {
  for (let first = 0; first < COUNT; first += width) {
    const some = jobs.slice(first, first + width);
    await Promise.all(some.map((job) => new Promise<Recovered | undefined>((resolve) => thread.start(job, resolve))));
  }
};

const variants: readonly (readonly [string, () => void | Promise<void>])[] = [
  ['noble: recovery', alone(noble)],
  [`${library}: recovery`, alone(faster)],
  ['noble: r is no x', alone(noble, garbage)],
  [`${library}: r is no x`, alone(faster, garbage)],
  ['noble: whole header', whole((struct, signature) => noble(digestOf(struct), signature))],
  [`${library}: whole header`, whole(recoverSigner)],
  [
    'whole header but digest and recovery',
    () => void headers.map((header) => authorizationStruct(parsed(header).authorization, BASE)),
  ],
  ['noble: digest', () => void jobs.map(({ struct }) => digestOf(struct))],
  ['WebAssembly: digest', () => void jobs.map(({ struct }) => digestOf(struct, keccak256))],
  [`${library} on a thread, one at a time`, () => onThread(1)],
  [`${library} on a thread, sixteen at a time`, () => onThread(COUNT)],
];

const samples = new Map<string, { cpu: number[]; wall: number[] }>(
  variants.map(([name]) => [name, { cpu: [], wall: [] }]),
);
const REPEATS = 4;
for (let round = -2; round < rounds; round++) {
  for (const [name, run] of variants) {
    const startCpu = cpuMicros();
    const startMs = performance.now();
    for (let i = 0; i < REPEATS; i++) await run();
    const each = REPEATS * COUNT;
    if (round < 0) continue; // compiled by then
    samples.get(name)?.cpu.push((cpuMicros() - startCpu) / each);
    samples.get(name)?.wall.push(((performance.now() - startMs) * 1000) / each);
  }
}
await thread.close();

const figures = variants.map(([name]) => {
  const { cpu, wall } = samples.get(name) as { cpu: number[]; wall: number[] };
  return { name, cpuMicros: median(cpu), wallMicros: median(wall) };
});
const of = (name: string): number => figures.find((one) => one.name === name)?.cpuMicros ?? Number.NaN;
const result = {
  runtime: RUNTIME,
  figures,
  nobleOverFaster: of('noble: recovery') / of(`${library}: recovery`),
  wholeNobleOverFaster: of('noble: whole header') / of(`${library}: whole header`),
};
if (values.json) console.log(JSON.stringify(result));
else {
  console.log(`${result.runtime}: µs a signature, processor time (wall)`);
  for (const { name, cpuMicros: cpu, wallMicros: wall } of figures) {
    console.log(`${name.padEnd(38)} ${cpu.toFixed(0).padStart(7)}  (${wall.toFixed(0)})`);
  }
  console.log(
    `noble / ${library}: recovery ${result.nobleOverFaster.toFixed(2)}, whole header ${result.wholeNobleOverFaster.toFixed(2)}`,
  );
}
