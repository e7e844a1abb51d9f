import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { htmlText } from '../../../src/ingest/input/html-text.ts';
import { parseDictionary, SkillDictionaryError } from '../../../src/ingest/skills/dictionary.ts';
import { buildSkillExtractor, loadSkillExtractor } from '../../../src/ingest/skills/skills.ts';

const extractor = loadSkillExtractor();
const extractorOf = (dictionary: unknown) => buildSkillExtractor(parseDictionary(dictionary));
const skillsOf = (text: string): string[] => extractor.extract('', htmlText(text));

/** Texts and all the skills that they name, in order. */
const named: readonly (readonly [text: string, skills: string])[] = [
  ['Python', 'Python'],
  ['python', 'Python'],
  ['PYTHON.', 'Python'],
  ['(Python)', 'Python'],
  ['"Python"', 'Python'],
  ['Python3 and Python 3', 'Python'],
  ["Python's type hints", 'Python'],
  ['Python-based services', 'Python'],
  ['C++', 'C++'],
  ['C++17 or later', 'C++'],
  ['modern C++.', 'C++'],
  ['C#', 'C#'],
  ['C#, F#', 'C#,F#'],
  ['C/C++', 'C,C++'],
  ['Objective-C', 'Objective-C'],
  ['objective c', 'Objective-C'],
  ['.NET', '.NET'],
  ['.NET Core', '.NET'],
  ['the .NET framework', '.NET'],
  ['dotnet', '.NET'],
  ['C#/.NET', 'C#,.NET'],
  ['C#.NET', 'C#'],
  ['ASP.NET', 'ASP.NET'],
  ['ASP.NET Core', 'ASP.NET'],
  ['ASP.NET/C#', 'ASP.NET,C#'],
  ['VB.NET', 'VB.NET'],
  ['Node.js', 'Node.js'],
  ['NodeJS', 'Node.js'],
  ['node js', 'Node.js'],
  ['Node.js/React', 'Node.js,React'],
  ['React.js and Vue.js', 'React,Vue.js'],
  ['React Native', 'React Native'],
  ['Next.js, NestJS', 'Next.js,NestJS'],
  ['CI/CD', 'CI/CD'],
  ['CI / CD', 'CI/CD'],
  ['continuous integration', 'CI/CD'],
  ['A/B testing', 'A/B Testing'],
  ['A/B tests', 'A/B Testing'],
  ['T-SQL', 'T-SQL'],
  ['TSQL', 'T-SQL'],
  ['PL/SQL', 'PL/SQL'],
  ['MySQL', 'MySQL'],
  ['SQL', 'SQL'],
  ['SQL/NoSQL', 'SQL,NoSQL'],
  ['Microsoft SQL Server', 'SQL Server'],
  ['TCP/IP', 'TCP/IP'],
  ['S/4HANA', 'SAP S/4HANA'],
  ['Java', 'Java'],
  ['JavaScript', 'JavaScript'],
  ['Java and JavaScript', 'Java,JavaScript'],
  ['Java Spring Boot', 'Java,Spring Boot'],
  ['Go-live, Python', 'Python'],
  ['Jira/Confluence', 'Jira,Confluence'],
  ['React/Redux', 'React,Redux'],
  ['REST/SOAP', 'REST APIs,SOAP'],
  ['Java, Spring, Hibernate', 'Java,Spring,Hibernate'],
  ['Go, Python', 'Go,Python'],
  ['Python or Go', 'Python,Go'],
  ['Python/Go', 'Python,Go'],
  ['Python; Go', 'Python,Go'],
  ['Python & Go', 'Python,Go'],
  ['Python (Go)', 'Python,Go'],
  ['Python • Go', 'Python,Go'],
  ['- Python\n- Go\n- Rust', 'Python,Go,Rust'],
  ['Go\nPython', 'Go,Python'],
  ['Golang', 'Go'],
  ['you write Go services', 'Go'],
  ['comfortable with Excel and numbers', 'Excel'],
  ['reports in Workday each month', 'Workday'],
  ['models in R for trials', 'R'],
  ['firmware written in C on bare metal', 'Firmware,C'],
  ['design in C# daily', 'C#'],
  ['a Go developer', 'Go'],
  ['C, Go and R with Python, SQL', 'Python,SQL'],
  ['C, Go, R, Python', 'C,Go,R,Python'],
  ['Python and/or R', 'Python,R'],
  ['R, SAS', 'R,SAS'],
  ['RStudio', 'R'],
  ['R programming', 'R'],
  ['embedded C', 'C'],
  ['C, C++', 'C,C++'],
  ['Excel, PowerPoint', 'Excel,Microsoft PowerPoint'],
  ['Microsoft Excel', 'Excel'],
  ['Excel, Word and PowerPoint', 'Excel,Microsoft Word,Microsoft PowerPoint'],
  ['Terraform, Ansible, Chef', 'Terraform,Ansible,Chef'],
  ['Chef/Puppet/Ansible', 'Chef,Puppet,Ansible'],
  ['Hadoop, Spark, Hive', 'Hadoop,Apache Spark,Apache Hive'],
  ['PySpark', 'Apache Spark'],
  ['Flask and Django', 'Flask,Django'],
  ['Bash scripting', 'Bash'],
  ['Bash, Python', 'Bash,Python'],
  ['machine-learning', 'Machine Learning'],
  ['machine  learning', 'Machine Learning'],
  ['machine\u00a0learning', 'Machine Learning'],
  ['machine‑learning', 'Machine Learning'],
  ['Ｐｙｔｈｏｎ', 'Python'],
  ['Python™', 'Python'],
  ['Kubernetes® (K8s)', 'Kubernetes'],
  ['Java를 사용한 개발', 'Java'],
  ['Python・SQLの経験', 'Python,SQL'],
  ['经验：Python、R', 'Python,R'],
  ['Rust', 'Rust'],
  ['Swift, Kotlin', 'Swift,Kotlin'],
  ['React', 'React'],
  ['html, css, react', 'HTML,CSS,React'],
  ['Monday.com', 'Monday.com'],
  ['Salesforce.com', 'Salesforce'],
  ['FP&A', 'Financial Planning and Analysis'],
  ['M&A', 'Mergers and Acquisitions'],
  ['accounts payable', 'Accounts Payable'],
  ['ICD-10 and HIPAA', 'Medical Coding,HIPAA'],
  ['registered nurse (RN)', 'Registered Nursing'],
  ['forklift', 'Forklift Operation'],
  ['MIG welding', 'Welding'],
  ['see python.org. SQL', 'SQL'],
  ['SQL, mailto a@b.com', 'SQL'],
  ['<p>C&#43;&#43; &amp; SQL</p>', 'C++,SQL'],
  ['<ul><li>Go</li><li>SQL</li></ul>', 'Go,SQL'],
  ['&lt;li&gt;Go&lt;/li&gt;&lt;li&gt;SQL&lt;/li&gt;', 'Go,SQL'],
];

/** Texts that hold the letters of a skill and name none. */
const unnamed: readonly (readonly [because: string, texts: readonly string[]])[] = [
  [
    'part of a longer word',
    [
      'Javanese',
      'Pythonic',
      'xSQL',
      'SQLish',
      'Rusty',
      'Kafkaesque',
      'myjava',
      'gitter',
      'unixy',
      'perlite',
      'sassy',
      'Scalable',
    ],
  ],
  ['joined by an underscore or a digit', ['python_dev', 'dev_python', '2python', 'SQL9x']],
  [
    'part of a host',
    [
      'foo.net',
      'java.com',
      'docs.python.org',
      'sql.example',
      'x.docker.io',
      'python.org/downloads',
      'github.com/python/cpython',
    ],
  ],
  [
    'part of a URL',
    [
      'https://x.example/python',
      'http://java/sql',
      'www.python/sql',
      '(see https://x.example/?q=java,python)',
      'ftp://kafka/docker',
    ],
  ],
  [
    'part of an e-mail address',
    ['java@x.example', 'a.java@x.example', 'me@python.example', 'java-jobs@x.example', 'sql+jobs@docker.example'],
  ],
  ['a handle', ['@python', 'ask @docker']],
  ['a dot that belongs to something else', ['net income', '...net sales', 'gross.net', '..NET']],
  ['go, the verb', ['Go above and beyond', 'ready to go', 'go-to-market', 'Go-live', 'Go, team', 'go, see', 'GO']],
  ['a bullet that only begins with an everyday word', ['work together\nGo the extra mile', 'be kind\nExcel at work']],
  [
    'an initial',
    [
      'R&D',
      'R. Smith',
      "R's",
      'U.S.C. § 1157',
      'C-level',
      'C-suite',
      'Class C',
      'vitamin C',
      'series C',
      'plan B, C',
      'a, b, c',
      'Grade C',
      'C+',
      'C$',
      'R-squared',
      'A, B, C, R',
    ],
  ],
  [
    'a capital that is no name',
    [
      'ready to Go',
      'Lead. Go far',
      'in C-level talks',
      'spent in R&D',
      'We Go Above',
      'help you Excel today',
      'Dear R reader',
    ],
  ],
  ['excel, the verb', ['excel in your work', 'you excel at this', 'Excel at planning', 'Excel in a fast team']],
  ['swift, the adjective', ['a swift answer', 'Swift action is needed', 'SWIFT code', 'Taylor Swift']],
  ['rust and ruby, the things', ['rust removal', 'remove rust', 'ruby red', 'Ruby Tuesday']],
  ['seasons and springs', ['Spring 2026', 'in spring', 'spring break', 'a steel spring']],
  [
    'everyday words',
    [
      'react quickly',
      'react to change',
      'salt and pepper',
      'an express train',
      'next steps',
      'a dart board',
      'the hive',
      'a sketch',
      'a chef',
      'spark joy',
      'word of mouth',
      'access to care',
      'the outlook for 2026',
      'team unity',
      'at the helm',
      'a maven',
      'a segment of users',
      'a slack channel',
      'a notion',
      'great teams',
      'a flask of tea',
      'Julia',
      'elm trees',
      'a consul',
      'a packer',
      'a blender',
      'mayan',
      'statistics prove it',
    ],
  ],
  ['a wait or a rest', ['the rest of us', 'rest assured', 'Rest', 'lambda', 'iceberg']],
  ['names of people', ['Julia, Maya and Anna', 'Chef Ramsay', 'Jasmine']],
  ['a phrase over a line break', ['machine\nlearning', 'deep\nlearning', 'react\nnative']],
  ['other letters', ['Pythön', 'Jаva', 'Яust']],
  [
    'nothing at all',
    ['', ' ', '\n', '.', '...', '.,;', '-', '@', '://', '/', '++', '#', '😀', '\ud800', '<p></p>', '&amp;'],
  ],
];

describe('skills of a text', () => {
  test.each(named)('%j names %s', (text, skills) => {
    expect(skillsOf(text).join(',')).toBe(skills);
  });

  for (const [because, texts] of unnamed) {
    test.each(texts.map((text) => [text] as const))(`%j names nothing: ${because}`, (text) => {
      expect(skillsOf(text)).toEqual([]);
    });
  }

  test('the tables hold what was asked for', () => {
    expect(named.length).toBeGreaterThanOrEqual(80);
    expect(unnamed.reduce((sum, [, texts]) => sum + texts.length, 0)).toBeGreaterThanOrEqual(80);
  });

  test('skills come once, in order of first appearance, those of the title first', () => {
    expect(extractor.extract('SQL and Python', 'Docker, SQL, AWS, Docker')).toEqual(['SQL', 'Python', 'Docker', 'AWS']);
  });

  test('a list does not go on from the title into the description', () => {
    expect(extractor.extract('Python,', 'Go for it')).toEqual(['Python']);
  });

  test('a missing description is no description', () => {
    expect(extractor.extract('Java Developer', null)).toEqual(extractor.extract('Java Developer', ''));
  });
});

describe('the dictionary', () => {
  const dictionary = JSON.parse(readFileSync(new URL('../../../data/skills.json', import.meta.url), 'utf8')) as {
    skills: { name: string; area: string; context?: string; case?: string; aliases?: (string | { text: string })[] }[];
  };

  test('holds a few hundred skills of every area', () => {
    expect(dictionary.skills.length).toBeGreaterThanOrEqual(350);
    const areas = new Map<string, number>();
    for (const { area } of dictionary.skills) areas.set(area, (areas.get(area) ?? 0) + 1);
    for (const area of [
      'software',
      'data',
      'cloud',
      'security',
      'design',
      'product',
      'sales',
      'finance',
      'healthcare',
      'trades',
    ]) {
      expect(areas.get(area), area).toBeGreaterThanOrEqual(25);
    }
  });

  test('every name is found as itself, beside a skill when it needs a list', () => {
    for (const { name } of dictionary.skills) {
      const neighbour = name === 'Tableau' ? 'jQuery' : 'Tableau';
      expect(skillsOf(`${name}, ${neighbour}`), name).toEqual([name, neighbour]);
    }
  });

  test('every alias leads to its skill', () => {
    for (const { name, aliases = [] } of dictionary.skills) {
      const neighbour = name === 'Tableau' ? 'jQuery' : 'Tableau';
      for (const alias of aliases) {
        const text = typeof alias === 'string' ? alias : alias.text;
        expect(skillsOf(`${text}, ${neighbour}`), text).toEqual([name, neighbour]);
      }
    }
  });

  test('an ambiguous name alone is no skill', () => {
    for (const { name, context } of dictionary.skills) {
      if (context !== undefined) expect(skillsOf(`${name} is what we like here`), name).toEqual([]);
    }
  });

  test('the version names the algorithm, the dictionary and its content', () => {
    const skills = [{ name: 'Alpha' }];
    const first = extractorOf({ version: 'a', skills }).version;
    expect(first).toMatch(/^2\.a\.[0-9a-f]{8}$/);
    expect(extractorOf({ version: 'a', skills }).version).toBe(first);
    expect(extractorOf({ version: 'b', skills }).version).not.toBe(first);
    expect(extractorOf({ version: 'a', skills: [{ name: 'Alpha', aliases: ['Beta'] }] }).version).not.toBe(first);
  });

  test('is read once', () => {
    expect(loadSkillExtractor()).toBe(extractor);
  });

  const refused: readonly (readonly [because: string, dictionary: unknown, entry: string])[] = [
    ['it is no object', 3, 'dictionary'],
    ['it has no version', { skills: [{ name: 'Alpha' }] }, 'version'],
    ['its version has odd characters', { version: 'a b', skills: [{ name: 'Alpha' }] }, 'version'],
    ['it has no skill', { version: 'a', skills: [] }, 'skills'],
    ['an entry has no name', { version: 'a', skills: [{}] }, 'skills.0.name'],
    ['a name is empty', { version: 'a', skills: [{ name: '' }] }, ''],
    ['a field is unknown', { version: 'a', skills: [{ name: 'Alpha', alias: ['x'] }] }, 'Alpha'],
    ['a context is unknown', { version: 'a', skills: [{ name: 'Alpha', context: 'title' }] }, 'Alpha'],
    ['a name comes twice', { version: 'a', skills: [{ name: 'Alpha' }, { name: 'Alpha' }] }, 'Alpha'],
    ['an alias comes twice', { version: 'a', skills: [{ name: 'Alpha', aliases: ['x', 'X'] }] }, 'Alpha'],
    [
      'an alias belongs to two skills',
      {
        version: 'a',
        skills: [
          { name: 'Alpha', aliases: ['x'] },
          { name: 'Beta', aliases: ['X'] },
        ],
      },
      'Beta',
    ],
    [
      'an alias is another name, but for a hyphen',
      { version: 'a', skills: [{ name: 'Alpha Ray' }, { name: 'Beta', aliases: ['alpha-ray'] }] },
      'Beta',
    ],
    [
      'an alias is ignored elsewhere',
      { version: 'a', ignore: ['x'], skills: [{ name: 'Alpha', aliases: ['x'] }] },
      'Alpha',
    ],
    ['a phrase starts with a sign', { version: 'a', skills: [{ name: '#alpha' }] }, '#alpha'],
    ['a phrase ends with a blank', { version: 'a', skills: [{ name: 'alpha ' }] }, 'alpha '],
    ['a phrase holds a line break', { version: 'a', skills: [{ name: 'al\npha' }] }, 'al\npha'],
  ];
  test.each(refused)('is refused when %s', (_because, unsound, entry) => {
    let error: unknown;
    try {
      extractorOf(unsound);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(SkillDictionaryError);
    expect((error as SkillDictionaryError).entry).toBe(entry);
    expect((error as SkillDictionaryError).reason).not.toBe('');
  });

  test('two spellings of one word may be two skills when both are exact', () => {
    const { extract } = extractorOf({
      version: 'a',
      skills: [
        { name: 'Alpha', case: 'exact' },
        { name: 'Payments', aliases: [{ text: 'ALPHA', case: 'exact' }] },
      ],
    });
    expect(extract('Alpha', null)).toEqual(['Alpha']);
    expect(extract('ALPHA', null)).toEqual(['Payments']);
    expect(extract('alpha', null)).toEqual([]);
  });

  test('the longest phrase wins, and a longer phrase that does not count leaves the shorter one', () => {
    const { extract } = extractorOf({
      version: 'a',
      ignore: ['alpha male'],
      skills: [{ name: 'Alpha' }, { name: 'Alpha Ray' }, { name: 'Alpha Ray Tube', case: 'exact' }],
    });
    expect(extract('alpha ray', null)).toEqual(['Alpha Ray']);
    expect(extract('alpha ray tube', null)).toEqual(['Alpha Ray']);
    expect(extract('Alpha Ray Tube', null)).toEqual(['Alpha Ray Tube']);
    expect(extract('alpha rays', null)).toEqual(['Alpha']);
    expect(extract('alpha male', null)).toEqual([]);
  });
});

const real = new URL('../../../../shared/data/real/ashby-docker.json', import.meta.url);
test.skipIf(!existsSync(real))(
  'real descriptions name what their readers would say (skipped without ../shared/data/real)',
  () => {
    const board = JSON.parse(readFileSync(real, 'utf8')) as { jobs: { title: string; descriptionHtml: string }[] };
    const jobs = board.jobs.map(({ title, descriptionHtml }) => ({
      title,
      skills: extractor.extract(title, htmlText(descriptionHtml)),
    }));
    const docker = jobs.filter(({ skills }) => skills.includes('Docker')).length;
    expect(docker / jobs.length).toBeGreaterThan(0.9);
    for (const { title, skills } of jobs) expect(new Set(skills).size, title).toBe(skills.length);
  },
);
