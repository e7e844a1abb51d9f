/**
 * Addresses of boards as people paste them, each with the board that it is of. `page`: what the server shows at that address;
 * `to`: where it redirects to. Tokens and hosts are made up but for the boards of which real files exist.
 */

export interface Pasted {
  readonly text: string;
  /** `shape:token`. */
  readonly board: string;
  /** HTML at the address; absent: the address alone tells. */
  readonly page?: string;
  /** The page redirects there. */
  readonly to?: string;
}

const pasted = (board: string, ...texts: readonly string[]): Pasted[] => texts.map((text) => ({ text, board }));
const shown = (board: string, text: string, page: string): Pasted => ({ text, board, page });
const html = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>Careers</title>${head}</head><body><h1>Join us</h1>${body}</body></html>`;
const postingLd = (...titles: readonly string[]): string =>
  `<script type="application/ld+json">${JSON.stringify({
    '@context': 'https://schema.org',
    '@graph': titles.map((title, place) => ({
      '@type': 'JobPosting',
      title,
      datePosted: '2026-11-01',
      url: `/jobs/${place + 1}`,
      hiringOrganization: { '@type': 'Organization', name: 'Fabrik', sameAs: 'https://www.fabrik.example.com' },
    })),
  })}</script>`;

const GREENHOUSE: readonly Pasted[] = [
  ...pasted(
    'greenhouse:anthropic',
    'https://boards.greenhouse.io/anthropic',
    'https://boards.greenhouse.io/anthropic/',
    'https://job-boards.greenhouse.io/anthropic?gh_src=abc123&utm_source=linkedin',
    'https://job-boards.greenhouse.io/anthropic/jobs/4020350008#app',
    'boards.greenhouse.io/anthropic/jobs/4020350008?gh_jid=4020350008',
    'HTTP://Boards.Greenhouse.IO/Anthropic',
    'https://boards-api.greenhouse.io/v1/boards/anthropic/jobs?content=true',
    'https://api.greenhouse.io/v1/boards/anthropic/departments',
    'https://boards.greenhouse.io/embed/job_board?for=anthropic&b=https%3A%2F%2Fwww.anthropic.com%2Fcareers',
    'https://boards.greenhouse.io/embed/job_board/js?for=anthropic',
    'https://boards.greenhouse.io/embed/job_app?for=anthropic&token=4020350008',
    '  <https://boards.greenhouse.io/anthropic>,  ',
    'greenhouse:anthropic',
    '[Anthropic careers](https://boards.greenhouse.io/anthropic)',
    'https:/boards.greenhouse.io/anthropic',
    'https://job-boards.greenhouse.io/embed/job_app?for=anthropic&validityToken=x%3D%3D',
    'https://job-boards.greenhouse.io/anthropic/jobs/4020350008/confirmation',
  ),
  ...pasted(
    'greenhouse:groww',
    'https://job-boards.eu.greenhouse.io/groww',
    'https://boards.eu.greenhouse.io/groww/jobs/4512345101?t=abc',
    'https://job-boards.eu.greenhouse.io/embed/job_board?for=groww&language=de',
  ),
  shown(
    'greenhouse:acmerobotics',
    'https://www.acme-robotics.com/careers/?gh_jid=55',
    html(
      '<div id="grnhse_app"></div><script src="https://boards.greenhouse.io/embed/job_board/js?for=acmerobotics"></script>',
    ),
  ),
  shown(
    'greenhouse:northwind',
    'northwind.example.com/en/company/jobs',
    html(
      '<iframe src="//boards.greenhouse.io/embed/job_board?for=northwind&amp;b=https%3A%2F%2Fnorthwind.example.com"></iframe>',
    ),
  ),
  shown(
    'greenhouse:umbrellalabs',
    'https://umbrella-labs.com/karriere',
    html(
      '<script>fetch("https:\\/\\/boards-api.greenhouse.io\\/v1\\/boards\\/umbrellalabs\\/jobs").then(show)</script>',
    ),
  ),
  shown(
    'greenhouse:initech',
    'https://initech.com/careers#openings',
    html(
      '<a class="cta" href="https://boards.greenhouse.io/initech/jobs/1">Engineer</a> <a href="https://boards.greenhouse.io/initech/jobs/2">Chef</a>',
    ),
  ),
];

const LEVER: readonly Pasted[] = [
  ...pasted(
    'lever:palantir',
    'https://jobs.lever.co/palantir',
    'https://jobs.lever.co/palantir/?team=Dev&location=London',
    'https://jobs.lever.co/palantir/5bf38a45-fa5f-4a23-a1ae-0a5bb0b6b6b5',
    'https://jobs.lever.co/palantir/5bf38a45-fa5f-4a23-a1ae-0a5bb0b6b6b5/apply?lever-source=Indeed',
    'jobs.lever.co/Palantir',
    'https://api.lever.co/v0/postings/palantir?mode=json',
    'https://api.lever.co/v0/postings/palantir?skip=0&limit=10&mode=html',
    'lever:palantir',
    '"https://jobs.lever.co/palantir?workplaceType=remote"',
  ),
  ...pasted(
    'lever:mobileye',
    'https://jobs.eu.lever.co/mobileye',
    'https://jobs.eu.lever.co/mobileye/0f9a1c3e-1111-4222-8333-444455556666/thanks',
    'https://api.eu.lever.co/v0/postings/mobileye?mode=json',
  ),
  shown(
    'lever:hooli',
    'https://hooli.com/jobs/',
    html(
      "<div id='lever-jobs-container'></div><script>window.leverJobsOptions = {accountName: 'hooli', includeCss: true};</script>",
    ),
  ),
  shown(
    'lever:piedpiper',
    'http://piedpiper.com/careers',
    html('<a href="https://jobs.lever.co/piedpiper?department=Eng">See openings</a>'),
  ),
  { text: 'https://careers.vandelay.com', board: 'lever:vandelay', to: 'https://jobs.lever.co/vandelay' },
];

const ASHBY: readonly Pasted[] = [
  ...pasted(
    'ashby:notion',
    'https://jobs.ashbyhq.com/notion',
    'https://jobs.ashbyhq.com/notion/',
    'https://jobs.ashbyhq.com/notion?departmentId=1a2b&utm_source=x',
    'https://jobs.ashbyhq.com/notion/2f0b1c4e-7c6a-4b1c-9b0e-1a2b3c4d5e6f',
    'https://jobs.ashbyhq.com/notion/2f0b1c4e-7c6a-4b1c-9b0e-1a2b3c4d5e6f/application',
    'https://jobs.ashbyhq.com/notion/embed?version=2',
    'https://api.ashbyhq.com/posting-api/job-board/notion?includeCompensation=true',
    'jobs.ashbyhq.com/notion#jobs',
    'ashby:notion',
  ),
  ...pasted('ashby:Retool Labs', 'https://jobs.ashbyhq.com/Retool%20Labs'),
  shown(
    'ashby:globex',
    'https://www.globex.io/company/careers?ashby_jid=2f0b1c4e-7c6a-4b1c-9b0e-1a2b3c4d5e6f',
    html('<div id="ashby_embed"></div><script src="https://jobs.ashbyhq.com/globex/embed?version=2"></script>'),
  ),
  shown(
    'ashby:soylent',
    'https://soylent.dev/jobs',
    html(
      '<script>const api = "https://api.ashbyhq.com/posting-api/job-board/soylent?includeCompensation=true";</script>',
    ),
  ),
];

const SMARTRECRUITERS: readonly Pasted[] = [
  ...pasted(
    'smartrecruiters:WesternDigital',
    'https://jobs.smartrecruiters.com/WesternDigital',
    'https://careers.smartrecruiters.com/WesternDigital',
    'https://careers.smartrecruiters.com/WesternDigital/?search=engineer&location=US#jobs',
    'https://careers.smartrecruiters.com/WesternDigital/careers',
    'https://jobs.smartrecruiters.com/WesternDigital/744000037563445-principal-engineer',
    'https://jobs.smartrecruiters.com/WesternDigital/744000037563445?trid=2d92f286-613b-4daf-9dfa-6340ffbecf73',
    'https://jobs.smartrecruiters.com/oneclick-ui/company/WesternDigital/publication/8f1c?dcr_ci=WesternDigital',
    'https://api.smartrecruiters.com/v1/companies/WesternDigital/postings?limit=100&offset=0',
    'https://www.smartrecruiters.com/WesternDigital/744000037563445-principal-engineer',
    'JOBS.SMARTRECRUITERS.COM/WesternDigital',
    'smartrecruiters:WesternDigital',
  ),
  shown(
    'smartrecruiters:Oscorp1',
    'https://oscorp.com/de/karriere/stellen',
    html(
      '<script>widget({"company_code": "Oscorp1", "lang": "de"});</script><script src="https://static.smartrecruiters.com/job-widget/1.4.2/script/smart_widget.js"></script>',
    ),
  ),
  shown(
    'smartrecruiters:Dunder',
    'https://dunder.com/careers',
    html('<iframe src="https://careers.smartrecruiters.com/Dunder/embed"></iframe>'),
  ),
];

const WORKABLE: readonly Pasted[] = [
  ...pasted(
    'workable:zaelab',
    'https://apply.workable.com/zaelab/',
    'https://apply.workable.com/zaelab/?lng=fr',
    'https://apply.workable.com/zaelab/j/1A2B3C4D5E/',
    'https://apply.workable.com/zaelab/j/1A2B3C4D5E/apply/?utm_campaign=x',
    'https://apply.workable.com/zaelab/#jobs',
    'https://apply.workable.com/api/v1/widget/accounts/zaelab?details=true',
    'https://apply.workable.com/api/v3/accounts/zaelab/jobs',
    'https://www.workable.com/api/accounts/zaelab?details=true',
    'https://zaelab.workable.com/jobs/123456',
    'http://zaelab.workable.com',
    'Apply.Workable.com/Zaelab',
  ),
  {
    text: 'https://apply.workable.com/j/1A2B3C4D5E',
    board: 'workable:zaelab',
    to: 'https://apply.workable.com/zaelab/j/1A2B3C4D5E/',
  },
  shown(
    'workable:wonka',
    'https://wonka.gr/careers',
    html('<a href="https://apply.workable.com/wonka/j/ABCDEF1234/">Chocolatier</a>'),
  ),
];

const RECRUITEE: readonly Pasted[] = [
  ...pasted(
    'recruitee:aikido',
    'https://aikido.recruitee.com',
    'https://aikido.recruitee.com/#section-1234',
    'https://aikido.recruitee.com/o/backend-engineer',
    'https://aikido.recruitee.com/o/backend-engineer/c/new?source=linkedin',
    'https://aikido.recruitee.com/l/nl',
    'https://aikido.recruitee.com/api/offers/',
    'aikido.recruitee.com/en/o/backend-engineer',
    'recruitee:aikido',
  ),
  shown(
    'recruitee:jobs.tyrell.nl',
    'https://jobs.tyrell.nl/o/engineer?lang=nl',
    html('<div id="root"></div>', '<link rel="stylesheet" href="https://recruiteecdn.com/careers/app.css">'),
  ),
  shown(
    'recruitee:cyberdyne',
    'https://cyberdyne.nl/vacatures',
    html("<script>var rtWidget = RTWidget({companies: ['cyberdyne'], detailsMode: 'popup'});</script>"),
  ),
];

const TEAMTAILOR: readonly Pasted[] = [
  ...pasted(
    'teamtailor:career',
    'https://career.teamtailor.com',
    'https://career.teamtailor.com/jobs',
    'https://career.teamtailor.com/jobs/7167985-account-executive-italy-madrid-based',
    'https://career.teamtailor.com/jobs.json',
    'https://career.teamtailor.com/sv/jobs?department=Sales',
  ),
  ...pasted('teamtailor:stark', 'https://stark.na.teamtailor.com/jobs/123-engineer', 'http://stark.na.teamtailor.com'),
  shown(
    'teamtailor:jobb.wayne.se',
    'https://jobb.wayne.se/jobs?split_view=true&query=',
    html(
      '<turbo-frame></turbo-frame>',
      '<meta name="generator" content="Teamtailor"><link href="https://assets-aws.teamtailor-cdn.com/a.css" rel="stylesheet">',
    ),
  ),
  shown(
    'teamtailor:monarch',
    'https://monarch.se/jobba-hos-oss',
    html('<a href="https://monarch.teamtailor.com/jobs">Lediga jobb</a>'),
  ),
];

const WORKDAY: readonly Pasted[] = [
  ...pasted(
    'workday:nvidia/NVIDIAExternalCareerSite',
    'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite',
    'https://nvidia.wd5.myworkdayjobs.com/en-US/NVIDIAExternalCareerSite',
    'https://nvidia.wd5.myworkdayjobs.com/de-DE/NVIDIAExternalCareerSite?locationHierarchy1=2fcb99c455831013ea52fb338f2932d8',
    'https://nvidia.wd5.myworkdayjobs.com/en-US/NVIDIAExternalCareerSite/job/US-CA-Santa-Clara/Engineer_JR2021016',
    'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite/job/US-CA-Santa-Clara/Engineer_JR2021016/apply',
    'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite/details/Engineer_JR2021016?q=engineer',
    'https://nvidia.wd5.myworkdayjobs.com/wday/cxs/nvidia/NVIDIAExternalCareerSite/jobs',
    'NVIDIA.wd5.MyWorkdayJobs.com/NVIDIAExternalCareerSite/',
  ),
  ...pasted(
    'workday:weyland/External',
    'https://wd3.myworkdaysite.com/recruiting/weyland/External',
    'https://wd3.myworkdaysite.com/en-GB/recruiting/weyland/External/job/London/Pilot_R-77',
    'https://wd3.myworkdaysite.com/fr-FR/recruiting/weyland/External#top',
  ),
  shown(
    'workday:sirius/Careers',
    'https://www.sirius.com/about/careers',
    html('<a href="https://sirius.wd1.myworkdayjobs.com/en-US/Careers">Search jobs</a>'),
  ),
  {
    text: 'https://jobs.massive.com/search',
    board: 'workday:massive/Jobs',
    to: 'https://massive.wd103.myworkdayjobs.com/Jobs',
  },
];

const PAGES: readonly Pasted[] = [
  shown(
    'jsonld:fabrik.example.com',
    'https://www.fabrik.example.com/jobs',
    html(postingLd('Welder', 'Planner', 'Buyer')),
  ),
  shown(
    'jsonld:fabrik2.example.com',
    'fabrik2.example.com/stellenangebote/?lang=de',
    html(postingLd('Schweißer', 'Einkäufer')),
  ),
  shown(
    'jsonld:topcv.vn/cong-ty/fabrik/42.html',
    'https://www.topcv.vn/cong-ty/fabrik/42.html',
    html(postingLd('Kỹ sư', 'Kế toán')),
  ),
  shown(
    'jsonld:liste.example.org',
    'https://liste.example.org/emplois',
    html(
      `<script type="application/ld+json">${JSON.stringify({
        '@type': 'ItemList',
        itemListElement: [1, 2, 3, 4].map((position) => ({
          '@type': 'ListItem',
          position,
          url: `https://liste.example.org/emplois/${position}`,
        })),
      })}</script>`,
    ),
  ),
  {
    text: 'https://click.ads.example.com/r?job=77',
    board: 'lever:palantir',
    to: 'https://jobs.lever.co/palantir/5bf38a45/apply',
  },
  shown(
    'greenhouse:stripes',
    'https://stripes.com/jobs/search?gh_jid=5',
    html('<script>window.__STATE__={"boardToken":"stripes"}</script>'),
  ),
  shown(
    'ashby:notion',
    'https://www.notion.com/careers',
    html('<a href="https://jobs.ashbyhq.com/notion/2f0b1c4e-7c6a-4b1c-9b0e-1a2b3c4d5e6f">PM</a>') +
      '<a href="https://twitter.com/notion">x</a>',
  ),
  // Hard ones: nothing in the page says more, or what it says is another name.
  shown(
    'lever:palantir',
    'https://foundry.example.net/work-here',
    html('<a href="https://jobs.lever.co/palantir">Open roles</a>'),
  ),
  shown(
    'greenhouse:quiet',
    'https://quiet.example.net/careers',
    html('<div id="app"></div><script src="/main.js"></script>'),
  ),
  { text: 'https://jobs.lever.co/palantir (all roles)', board: 'lever:palantir' },
  // One hop: the company's page links to its careers page.
  shown('greenhouse:hop', 'https://hop.example.com', html('<a href="/about">About</a> <a href="/careers">Careers</a>')),
];

export const PASTED: readonly Pasted[] = [
  ...GREENHOUSE,
  ...LEVER,
  ...ASHBY,
  ...SMARTRECRUITERS,
  ...WORKABLE,
  ...RECRUITEE,
  ...TEAMTAILOR,
  ...WORKDAY,
  ...PAGES,
];

/** Pages that the addresses above lead to. */
export const FURTHER_PAGES: ReadonlyMap<string, string> = new Map([
  ['hop.example.com/careers', html('<iframe src="https://boards.greenhouse.io/embed/job_board?for=hop"></iframe>')],
]);

/** What names no board, or more than one, with a word of the reason. */
export const REFUSED: readonly (Omit<Pasted, 'board'> & { readonly because: RegExp })[] = [
  { text: '', because: /blank/ },
  { text: 'acme', because: /no dot/ },
  { text: 'ftp://boards.greenhouse.io/acme', because: /https/ },
  { text: 'javascript:alert(1)', because: /https/ },
  { text: 'https://user:secret@boards.greenhouse.io/acme', because: /password/ },
  { text: `https://boards.greenhouse.io/${'a'.repeat(3000)}`, because: /longer/ },
  { text: 'https://www.linkedin.com/company/acme/jobs/', because: /many companies/ },
  { text: 'https://de.indeed.com/cmp/Acme/jobs', because: /many companies/ },
  { text: 'https://www.greenhouse.io', because: /cannot be read|no board/ },
  { text: 'https://boards.greenhouse.io/', because: /no board/ },
  { text: 'https://boards.greenhouse.io/embed/job_app?token=4020350008', because: /`for` is missing/ },
  { text: 'https://boards.greenhouse.io/nosuchboard', because: /there is no board greenhouse:nosuchboard/ },
  { text: 'https://nvidia.wd5.myworkdayjobs.com/', because: /none of its careers sites/ },
  { text: 'workday:nvidia', because: /by its address/ },
  { text: 'https://jobs.workable.com/company/abc/jobs-at-zaelab', because: /many companies/ },
  { text: 'https://empty.example.com/careers', page: html('<p>Nothing here</p>'), because: /embeds none/ },
  { text: 'https://404.example.com/careers', because: /status 404/ },
  {
    text: 'https://fund.example.com/portfolio',
    page: html('<a href="https://boards.greenhouse.io/alpha">A</a><a href="https://jobs.lever.co/beta">B</a>'),
    because: /greenhouse:alpha, lever:beta.*another company/,
  },
  {
    text: 'https://blog.example.com/we-love-palantir',
    page: html('<a href="https://jobs.lever.co/palantir">they hire</a>'),
    because: /another company/,
  },
  {
    text: 'https://group.example.com/careers',
    page: html(
      '<iframe src="https://boards.greenhouse.io/embed/job_board?for=north"></iframe><iframe src="https://boards.greenhouse.io/embed/job_board?for=south"></iframe>',
    ),
    because: /several boards \(greenhouse:north, greenhouse:south\)/,
  },
  { text: 'https://onejob.example.com/jobs/1', page: html(postingLd('Welder')), because: /about one job/ },
];
