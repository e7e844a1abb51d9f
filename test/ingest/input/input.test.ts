import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { InputError, type Inputs, type Member, openInputs } from '../../../src/ingest/input/input.ts';
import { suiteFolder } from '../../support/scratch-folder.ts';

const folder = suiteFolder();

function file(name: string, bytes: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const NOTHING = new Uint8Array(0);

async function* membersOf({ files }: Inputs): AsyncGenerator<Member> {
  for (const file of files) yield* file.members();
}

/** `name without the folder = text`, for every member. */
async function read(paths: readonly string[], stdin: Uint8Array = NOTHING, size = 7): Promise<string[]> {
  const inputs = await openInputs(paths, new Map([['-', pieces(stdin, size)]]));
  const told: string[] = [];
  for await (const member of membersOf(inputs)) {
    const content = await text(member.bytes);
    told.push(`${member.name.replace(`${folder}/`, '')} [${member.fileName}] = ${content.slice(0, 20)}`);
  }
  return told;
}

/** A gibberish text that gzip cannot make small, from a fixed seed. */
function noise(length: number): string {
  let state = 7;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

const archive = await packTar([
  { header: { name: 'boards/', type: 'directory', size: 0 } },
  { header: { name: 'boards/a.json', size: 3 }, body: '"a"' },
  { header: { name: 'boards/link', type: 'symlink', size: 0, linkname: 'a.json' } },
  { header: { name: 'boards/empty', size: 0 } },
  { header: { name: `boards/${'long'.repeat(40)}`, size: 3 }, body: '"b"' },
]);
const archiveMembers = (name: string) => [
  `${name}:boards/a.json [a.json] = "a"`,
  `${name}:boards/empty [empty] = `,
  `${name}:boards/${'long'.repeat(40)} [${'long'.repeat(40)}] = "b"`,
];

describe('inputs are what their first bytes say', () => {
  it('reads plain files, gzip, several gzip parts, and an empty file, whatever they are called', async () => {
    const paths = [
      file('plain.gz', 'plain'),
      file('packed.txt', gzipSync('packed')),
      file('parts', Buffer.concat([gzipSync('one '), gzipSync('two')])),
      file('nothing', ''),
      file('one byte', '\x1f'),
    ];
    expect(await read(paths)).toEqual([
      'plain.gz [plain.gz] = plain',
      'packed.txt [packed.txt] = packed',
      'parts [parts] = one two',
      'nothing [nothing] = ',
      'one byte [one byte] = \x1f',
    ]);
  });

  it.each([1, 7, 4096])(
    'reads gzip that is padded with zeros, %i bytes at a time',
    { timeout: 10_000 },
    async (size) => {
      const packed = Buffer.concat([gzipSync('one '), gzipSync('two')]);
      // A byte at a time as many as at 7 bytes in as many pieces.
      for (const zeros of [1, 511, size === 1 ? 6_000 : 40_000]) {
        const padded = Buffer.concat([packed, Buffer.alloc(zeros)]);
        expect(await read([], padded, size)).toEqual(['stdin [null] = one two']);
      }
      expect(await read([file('padded.tgz', Buffer.concat([gzipSync(archive), Buffer.alloc(10_240)]))])).toEqual(
        archiveMembers('padded.tgz'),
      );
    },
  );

  it('reads every regular file of an archive, plain or in gzip', async () => {
    expect(await read([file('a.tar', archive)])).toEqual(archiveMembers('a.tar'));
    expect(await read([file('a.tgz', gzipSync(archive))])).toEqual(archiveMembers('a.tgz'));
  });

  it.each([1, 7, 4096])('reads stdin that comes %i bytes at a time', async (size) => {
    expect(await read([], gzipSync(archive), size)).toEqual(archiveMembers('stdin'));
    expect(await read([], new TextEncoder().encode('plain'), size)).toEqual(['stdin [null] = plain']);
    expect(await read(['-'], NOTHING, size)).toEqual(['stdin [null] = ']);
  });

  it('passes over members that are not read to their end', async () => {
    const large = await packTar([
      { header: { name: 'a', size: 300_000 }, body: noise(300_000) },
      { header: { name: 'b', size: 1 }, body: 'b' },
    ]);
    const inputs = await openInputs([file('large.tgz', gzipSync(large))], new Map());
    const names: (string | null)[] = [];
    for await (const member of membersOf(inputs)) {
      names.push(member.fileName);
      for await (const _ of member.bytes) break;
    }
    expect(names).toEqual(['a', 'b']);
  });

  it('counts the bytes on disk', async () => {
    const packed = gzipSync('x'.repeat(100_000));
    const inputs = await openInputs([file('x.gz', packed)], new Map());
    expect(inputs.progress).toEqual({ bytesRead: 0, bytesTotal: packed.length });
    for await (const member of membersOf(inputs)) await text(member.bytes);
    expect(inputs.progress.bytesRead).toBe(packed.length);
    expect((await openInputs(['-'], new Map())).progress.bytesTotal).toBeNull();
  });
});

describe('inputs that cannot be read are told in one line', () => {
  const packed = gzipSync(noise(100_000));
  const tarball = gzipSync(archive);
  const cases: readonly [because: string, path: () => string, message: string][] = [
    ['a missing file', () => join(folder, 'missing'), 'missing: there is no such file'],
    ['a file as a folder', () => join(file('plain', 'x'), 'y'), 'plain/y: there is no such file'],
    ['a folder', () => folder, ' is a directory: name the files in it, for example'],
    [
      'gzip cut short',
      () => file('cut.gz', packed.subarray(0, 50_000)),
      'cut.gz: the gzip data is damaged or cut short',
    ],
    [
      'gzip cut to its head',
      () => file('head.gz', packed.subarray(0, 5)),
      'head.gz: the gzip data is damaged or cut short',
    ],
    [
      'altered gzip',
      () =>
        file(
          'bad.gz',
          packed.map((byte, at) => (at === 40_000 ? byte ^ 0x55 : byte)),
        ),
      'bad.gz: the gzip data is damaged or cut short',
    ],
    [
      'something behind the padding of gzip',
      () => file('behind.gz', Buffer.concat([packed, Buffer.alloc(100), gzipSync('more')])),
      'behind.gz: the gzip data is damaged or cut short',
    ],
    [
      'something far behind the padding of gzip',
      () => file('far.gz', Buffer.concat([packed, Buffer.alloc(100_000), gzipSync('more')])),
      'far.gz: the gzip data is damaged or cut short',
    ],
    [
      'an archive in gzip cut short',
      () => file('cut.tgz', tarball.subarray(0, tarball.length - 20)),
      'cut.tgz: the gzip data is damaged or cut short',
    ],
    [
      'an archive cut inside a file',
      () => file('cut.tar', archive.subarray(0, 1024 + 1)),
      'the tar archive is damaged or cut short',
    ],
    [
      'an archive cut inside a header',
      () => file('cut2.tar', archive.subarray(0, 700)),
      'the tar archive is damaged or cut short',
    ],
    [
      'an archive with an altered header',
      () =>
        file(
          'bad.tar',
          archive.map((byte, at) => (at === 515 ? byte ^ 1 : byte)),
        ),
      'the tar archive is damaged or cut short',
    ],
  ];
  it.each(cases)('%s', async (_because, path, message) => {
    const failure = await read([path()]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect((failure as Error).message).toContain(message);
    expect((failure as Error).message).not.toContain('\n');
  });

  it('looks at every name before it reads the first', async () => {
    await expect(openInputs([file('good', 'x'), join(folder, 'missing')], new Map())).rejects.toThrow('missing');
  });
});
