import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import { CommandError, command, type Program, runProgram, UsageError } from '../../src/cli/command.ts';
import { capturedIo, run } from './captured-io.ts';

let seen: unknown;

const paint = command({
  notes: ['Walls dry by themselves.'],
  arguments: [
    { name: 'WALL', help: 'what to paint', count: 'one' },
    { name: 'COLOUR', help: 'with what', count: 'many' },
  ],
  options: {
    coats: { type: 'integer', value: 'N', min: 1, max: 9, default: 2, help: 'how often' },
    tool: { type: 'text', value: 'TOOL', choices: ['brush', 'roller'], default: 'brush', help: 'with what' },
    'signed-by': { type: 'text', value: 'NAME', help: 'who did it' },
    dry: { type: 'flag', help: 'only pretend' },
  },
  async run({ options, given, arguments: words }) {
    const coats: number = options.coats;
    const name: string | undefined = options['signed-by'];
    seen = { ...options, coats, 'signed-by': name, given: [...given], words };
    return 0;
  },
});

const fail = command({
  options: {
    as: { type: 'text', value: 'KIND', required: true, help: 'how' },
    log: { type: 'text', value: 'FILE', help: 'where to' },
  },
  async run({ options }) {
    const kind: string = options.as;
    if (kind === 'usage') throw new UsageError('called wrongly');
    if (kind === 'failure') throw new CommandError('the wall fell down');
    throw new TypeError('a bug');
  },
});

const program: Program = {
  name: 'house',
  summary: 'Keeps a house',
  commands: {
    wall: { summary: 'Walls', commands: { paint: { summary: 'Paints a wall', load: async () => paint } } },
    fail: { summary: 'Fails', load: async () => fail },
  },
};

async function house(...words: string[]) {
  const { io, written } = capturedIo({});
  seen = undefined;
  return { exitCode: await runProgram(program, words, io), ...written };
}

describe('a command line is read from its declaration', () => {
  it('gives defaults, and says what was given', async () => {
    expect(await house('wall', 'paint', 'north')).toMatchObject({ exitCode: 0, stderr: '' });
    const defaults = { coats: 2, tool: 'brush', 'signed-by': undefined, dry: false };
    expect(seen).toEqual({ ...defaults, given: [], words: ['north'] });
  });

  it('takes options anywhere, both ways of giving a value, and words after --', async () => {
    await house('wall', 'paint', '--coats=9', 'north', '--dry', '--signed-by', '-', '--tool', 'roller', '--', '--red');
    expect(seen).toEqual({
      coats: 9,
      tool: 'roller',
      'signed-by': '-',
      dry: true,
      given: ['coats', 'dry', 'signed-by', 'tool'],
      words: ['north', '--red'],
    });
  });

  const wrong: readonly [words: string[], complaint: string][] = [
    [[], 'a command is missing: wall, fail; --help describes them'],
    [['roof'], 'unknown command "roof": wall, fail'],
    [['wall'], 'a command is missing: paint; --help describes them'],
    [['wall', 'toString'], 'unknown command "toString": paint'],
    [['wall', 'paint'], 'the argument WALL is missing'],
    [['wal'], 'unknown command "wal", did you mean wall?'],
    [['fial'], 'unknown command "fial", did you mean fail?'],
    [['pant'], 'unknown command "pant", did you mean wall paint?'],
    [['-h'], 'unknown command "-h", did you mean --help?'],
    [['wall', 'paint', 'n', '--colour', 'red'], 'unknown option --colour; --help lists the options'],
    [['wall', 'paint', 'n', '--toString'], 'unknown option --toString; --help lists the options'],
    [['wall', 'paint', 'n', '-d'], 'unknown option -d; --help lists the options'],
    [['wall', 'paint', 'n', '-h'], 'unknown option -h, did you mean --help?'],
    [['wall', 'paint', 'n', '--no-dry'], 'unknown option --no-dry; --help lists the options'],
    [['wall', 'paint', 'n', '--coast', '2'], 'unknown option --coast, did you mean --coats?'],
    [['wall', 'paint', 'n', '--signed', 'me'], 'unknown option --signed, did you mean --signed-by?'],
    [['wall', 'paint', 'n', '--dry=yes'], '--dry takes no value'],
    [['wall', 'paint', 'n', '--signed-by'], '--signed-by needs a value, NAME'],
    [['wall', 'paint', 'n', '--signed-by', '--dry'], '--signed-by needs a value, NAME'],
    [
      ['wall', 'paint', 'n', '--coats', '-1'],
      '--coats needs a value, N; one that begins with a hyphen is written --coats=-…',
    ],
    [['wall', 'paint', 'n', '--signed-by='], '--signed-by must not be empty'],
    [['wall', 'paint', 'n', '--dry', '--dry'], '--dry is given twice'],
    [['wall', 'paint', 'n', '--coats', '1', '--coats', '1'], '--coats is given twice'],
    [['wall', 'paint', 'n', '--coats', '0'], '--coats must be a whole number from 1 to 9, not "0"'],
    [['wall', 'paint', 'n', '--coats', '10'], '--coats must be a whole number from 1 to 9, not "10"'],
    [['wall', 'paint', 'n', '--coats', '1e0'], '--coats must be a whole number from 1 to 9, not "1e0"'],
    [['wall', 'paint', 'n', '--coats', '02'], '--coats must be a whole number from 1 to 9, not "02"'],
    [['wall', 'paint', 'n', '--tool', 'Brush'], '--tool must be one of brush, roller, not "Brush"'],
    [['fail'], '--as is missing, for example --as KIND'],
    [['fail', '--as', 'usage', '--log=~/log'], '--log must be a path without ~, which only a shell replaces'],
    [['fail', '--as', 'usage', 'extra'], 'unexpected argument "extra"'],
    [['fail', '--as', 'usage', 'postgres://me:secret@h/d'], 'unexpected argument "postgres://…@h/d"'],
    [['fail', '--as', 'usage'], 'called wrongly'],
    [['a\nb'], 'unknown command "a\\nb": wall, fail'],
  ];
  it.each(wrong)('%j is one line on stderr and exit code 2', async (words, complaint) => {
    expect(await house(...words)).toEqual({ exitCode: 2, stdout: '', stderr: `house: ${complaint}\n` });
  });

  it('tells a failure in one line with exit code 1, and lets a bug through', async () => {
    expect(await house('fail', '--as', 'failure')).toMatchObject({
      exitCode: 1,
      stderr: 'house: the wall fell down\n',
    });
    await expect(house('fail', '--as', 'bug')).rejects.toThrow(TypeError);
  });

  it('shows help for a command before it asks for what is missing', async () => {
    const { exitCode, stdout, stderr } = await house('wall', 'paint', '--help');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'house wall paint [options] WALL [COLOUR...]',
        '',
        'Paints a wall.',
        '',
        '  WALL    what to paint',
        '  COLOUR  with what',
        '',
        '  --coats N            how often (default 2)',
        '  --tool brush|roller  with what (default brush)',
        '  --signed-by NAME     who did it',
        '  --dry                only pretend',
        '  --help               show this',
        '',
        'Walls dry by themselves.',
        '',
      ].join('\n'),
    );
  });

  it('prints the version for --version, and only at the top', async () => {
    expect(await run(['--version'])).toEqual({ exitCode: 0, stdout: `paygrade ${VERSION}\n`, stderr: '' });
    expect(await run(['--verison'])).toMatchObject({
      exitCode: 2,
      stderr: 'paygrade: unknown command "--verison", did you mean --version?\n',
    });
    expect((await run(['snapshot', '--version'])).exitCode).toBe(2);
  });

  it.each([['--help'], ['help']])('shows all commands for %s', async (word) => {
    const { exitCode, stdout } = await house(word);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('  wall paint  Paints a wall\n  fail        Fails\n');
    expect((await house('wall', word)).stdout).toContain('house wall <command> [options]\n');
  });

  it('has help for every command of paygrade', async () => {
    const { stdout } = await run(['--help']);
    const paths = [...stdout.matchAll(/^ {2}(\S+(?: \S+)*) {2}/gm)].map(([, path]) => path!.split(' '));
    expect(paths).toContainEqual(['snapshot', 'build']);
    for (const path of paths) {
      const help = await run([...path, '--help']);
      expect(help).toMatchObject({ exitCode: 0, stderr: '' });
      expect(help.stdout).toContain(`paygrade ${path.join(' ')} `);
      expect(help.stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    }
  });
});
