/**
 * A synthetic catalogue that looks like a real one: few large companies and many small ones, titles from seniority,
 * speciality and role, real places, skills that belong to the discipline, fresh and stale observations. Names, domains
 * and hosts are made up, and every domain lies under the reserved `.example` (RFC 2606).
 *
 * Invariant: the records follow from the options alone, on every runtime. Only arithmetic that IEEE 754 defines exactly
 * is used; `Math.log` and `Math.pow` may differ between engines in the last bit. A job is the same with descriptions
 * on and off: with them its skills stand in the text, without them in `skills`.
 * Cost: memory of the companies and the vocabulary, whatever the number of jobs; time per job constant.
 */
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import type { NativeRecord } from '../native.ts';

export interface SynthOptions {
  /** Records to make, 0..JOB_COUNT_MAX. */
  readonly jobs: number;
  /** Any integer; its low 32 bits count. */
  readonly seed: number;
  /** Nothing is observed after this moment. */
  readonly asOfMs: number;
  /** Texts of 600 to 900 characters, now and then HTML, instead of `skills`. */
  readonly descriptions: boolean;
}

/** Bound of the exact arithmetic behind ids: ID_STEP times this stays below 2^53. */
export const JOB_COUNT_MAX = 100_000_000;

const DAY_MS = 86_400_000;

// ---- chance ------------------------------------------------------------------------------------------------------

/** sfc32, a small generator of 128 bits of state (Doty-Humphrey's PractRand): 32-bit operations only. */
class Chance {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  constructor(seed: number, stream: number) {
    this.reseed(seed, stream);
  }

  /** Starts the sequence of a seed and a stream. Twelve rounds mix them, as its author asks for. */
  reseed(seed: number, stream: number): void {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = 0x9e3779b9 | 0;
    this.#counter = 1;
    for (let i = 0; i < 12; i++) this.unit();
  }

  /** 32 bits, 0..2^32-1. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** [0, 1) in steps of 2^-32. */
  unit(): number {
    return this.bits() / 0x1_0000_0000;
  }

  /** 0..count-1, even up to one part in 2^32 / count. */
  below(count: number): number {
    return Math.floor(this.unit() * count);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}

/** Draws places of a weighted list in constant time (Vose's alias method). Weights are positive. */
class Draw {
  readonly #keep: Float64Array;
  readonly #other: Uint32Array;

  constructor(weights: ArrayLike<number>) {
    const count = weights.length;
    let total = 0;
    for (let i = 0; i < count; i++) total += weights[i]!;
    this.#keep = new Float64Array(count).fill(1);
    this.#other = new Uint32Array(count);
    const scaled = Float64Array.from(weights, (weight) => (weight * count) / total);
    const small: number[] = [];
    const large: number[] = [];
    for (let i = 0; i < count; i++) (scaled[i]! < 1 ? small : large).push(i);
    while (small.length > 0 && large.length > 0) {
      const low = small.pop()!;
      const high = large.pop()!;
      this.#keep[low] = scaled[low]!;
      this.#other[low] = high;
      scaled[high] = scaled[high]! + scaled[low]! - 1;
      (scaled[high]! < 1 ? small : large).push(high);
    }
  }

  next(chance: Chance): number {
    const place = chance.below(this.#keep.length);
    return chance.unit() < this.#keep[place]! ? place : this.#other[place]!;
  }
}

/** Zipf's law with Mandelbrot's shift: weight of rank r (from 0) is 1 / (r + 1 + shift). */
function zipfWeights(count: number, shift: number): Float64Array {
  return Float64Array.from({ length: count }, (_, rank) => 1 / (rank + 1 + shift));
}

/** Whole days that fall off exponentially: each day `stay` of those that reached it go on, up to `daysMax`. */
function decayWeights(daysMax: number, stay: number): Float64Array {
  const weights = new Float64Array(daysMax + 1);
  let left = 1;
  for (let day = 0; day <= daysMax; day++) {
    weights[day] = left * (1 - stay);
    left *= stay;
  }
  return weights;
}

// ---- vocabulary --------------------------------------------------------------------------------------------------

interface Discipline {
  readonly weight: number;
  /** Departments, the most usual first. */
  readonly departments: readonly string[];
  readonly roles: readonly string[];
  readonly specialities: readonly string[];
  /** Names of the skill dictionary, the most usual first. */
  readonly skills: readonly string[];
  /** Share that can be done away from a desk of the employer, 0..1. */
  readonly remote: number;
  readonly duties: readonly string[];
}

const list = (text: string): string[] => text.split(',').map((item) => item.trim());

const DISCIPLINES: readonly Discipline[] = [
  {
    weight: 20,
    departments: list('Engineering, Software Engineering, Product Engineering, Technology, R&D'),
    roles: list('Software Engineer, Engineer, Developer, Software Developer, Programmer'),
    specialities: list(
      'Backend, Frontend, Full Stack, Mobile, iOS, Android, Platform, API, Payments, Web, Distributed Systems, Search, Embedded, Growth, Integrations, Java, Python, React, Node.js, Rails, Video, Messaging, Identity, Billing, Games, Compiler, Storage, Developer Tools, Graphics, Checkout',
    ),
    skills: list(
      'Python, JavaScript, TypeScript, React, Java, SQL, Node.js, Go, C++, AWS, Docker, Kubernetes, PostgreSQL, REST APIs, GraphQL, C#, .NET, Git, Kotlin, Swift, Spring Boot, Redis, MongoDB, Microservices, CI/CD, Vue.js, Angular, Ruby on Rails, PHP, Rust, Apache Kafka, gRPC, Next.js, Unit Testing, Scala, Linux, MySQL, Django, Elasticsearch, React Native',
    ),
    remote: 0.45,
    duties: list(
      'build services that other teams rely on, review designs and code, keep our interfaces simple, find and remove bottlenecks, own features from sketch to production, pay down old debt with care',
    ),
  },
  {
    weight: 7,
    departments: list('Data, Data Science, Analytics, Data & AI, Business Intelligence'),
    roles: list('Data Engineer, Data Scientist, Data Analyst, Analytics Engineer, Machine Learning Engineer'),
    specialities: list(
      'Marketing, Product, Growth, Risk, Forecasting, Experimentation, Platform, Ads, Pricing, Search, Ranking, Fraud, Supply, Customer, Language, Vision, Speech, Finance, Clinical, Operations',
    ),
    skills: list(
      'SQL, Python, Machine Learning, Apache Spark, Apache Airflow, Snowflake, dbt, Tableau, R, Power BI, PyTorch, pandas, TensorFlow, BigQuery, Looker, Databricks, ETL, Data Modeling, A/B Testing, scikit-learn, NumPy, Large Language Models, Deep Learning, MLOps, Apache Kafka, Amazon Redshift, Excel, Natural Language Processing, Computer Vision',
    ),
    remote: 0.45,
    duties: list(
      'turn questions into measurements, keep pipelines correct and on time, explain results to people who decide, design experiments, watch models in production, agree on definitions with every team',
    ),
  },
  {
    weight: 6,
    departments: list('Infrastructure, Cloud Engineering, IT Operations, Platform Engineering, Information Technology'),
    roles: list('DevOps Engineer, Site Reliability Engineer, Systems Administrator, Cloud Engineer, Network Engineer'),
    specialities: list(
      'Kubernetes, Observability, Storage, Database, Linux, Windows, Azure, AWS, Edge, Build, Release, Data Center, Compute, Workplace, Identity, Network, Virtualization, Production, Messaging, Capacity',
    ),
    skills: list(
      'AWS, Kubernetes, Terraform, Docker, Linux, CI/CD, Python, Microsoft Azure, Ansible, Google Cloud Platform, Prometheus, Grafana, Jenkins, Bash, Infrastructure as Code, GitHub Actions, Helm, Datadog, VMware, Windows Server, PowerShell, Active Directory, TCP/IP, DNS, Load Balancing, GitOps, Nginx, OpenShift, Splunk',
    ),
    remote: 0.4,
    duties: list(
      'keep systems available at all hours, automate what is done twice, plan capacity, run reviews after incidents, make releases boring, guard the budget of the platform',
    ),
  },
  {
    weight: 3,
    departments: list('Security, Information Security, Cyber Defense, Trust & Safety, Risk and Security'),
    roles: list('Security Engineer, Security Analyst, Security Architect, Penetration Tester, Security Consultant'),
    specialities: list(
      'Application, Cloud, Network, Identity, Offensive, Detection, Product, Endpoint, Corporate, Threat, Vulnerability, Governance, Privacy, Infrastructure, Hardware, Data, Compliance, Response, Email, Mobile',
    ),
    skills: list(
      'Cybersecurity, SIEM, Penetration Testing, Identity and Access Management, Threat Modeling, Python, AWS, Vulnerability Management, NIST, ISO 27001, OWASP, Splunk, Network Security, SOC 2, Zero Trust, Cloud Security, Single Sign-On, OAuth, CISSP, Threat Intelligence, Cryptography, GDPR',
    ),
    remote: 0.4,
    duties: list(
      'review designs before they are built, hunt for what the alarms miss, answer auditors with evidence, rehearse incidents, teach safe habits, close findings with their owners',
    ),
  },
  {
    weight: 4,
    departments: list('Design, Product Design, Creative, User Experience, Brand Design'),
    roles: list('Product Designer, UX Designer, Graphic Designer, UX Researcher, Motion Designer'),
    specialities: list(
      'Brand, Mobile, Web, Growth, Design Systems, Marketing, Enterprise, Service, Packaging, Game, Editorial, Content, Interaction, Visual, Retail, Education, Platform, Payments, Onboarding, Campaign',
    ),
    skills: list(
      'Figma, UX Design, Design Systems, Prototyping, User Research, Adobe Photoshop, Adobe Illustrator, Wireframing, Interaction Design, Visual Design, Typography, Adobe After Effects, Adobe InDesign, Branding, Webflow, Canva, Information Architecture, Storyboarding, HTML, CSS',
    ),
    remote: 0.4,
    duties: list(
      'sketch early and often, test ideas with real people, keep the visual language consistent, hand over work that can be built, tell the story of a change, listen to support calls',
    ),
  },
  {
    weight: 5,
    departments: list('Product, Product Management, Program Management, Strategy, PMO'),
    roles: list('Product Manager, Program Manager, Product Owner, Project Manager, Business Analyst'),
    specialities: list(
      'Payments, Growth, Platform, Data, Mobile, Onboarding, Search, Marketplace, Partner, Technical, Trust, Pricing, Analytics, Internal Tools, Hardware, Migration, Compliance, Consumer, Enterprise, Logistics',
    ),
    skills: list(
      'Product Management, Jira, Agile, Scrum, Product Roadmapping, Stakeholder Management, Project Management, SQL, A/B Testing, User Stories, Market Research, Confluence, Product Strategy, Business Analysis, Product Analytics, Kanban, Program Management, Change Management, Amplitude, Excel',
    ),
    remote: 0.35,
    duties: list(
      'decide what not to build, write down the problem before the answer, talk to customers each week, keep plans honest, bring the right people together, measure what was shipped',
    ),
  },
  {
    weight: 13,
    departments: list('Sales, Business Development, Account Management, Partnerships, Commercial'),
    roles: list('Account Executive, Sales Manager, Account Manager, Sales Representative, Solutions Consultant'),
    specialities: list(
      'Enterprise, Mid-Market, SMB, Strategic, Field, Inside, Channel, Public Sector, Healthcare, Financial Services, Retail, Outbound, Inbound, Regional, Key, Technical, Export, Wholesale, Education, Manufacturing',
    ),
    skills: list(
      'Salesforce, B2B Sales, Account Management, CRM, Lead Generation, Outbound Sales, Business Development, HubSpot, Negotiation, Solution Selling, Excel, LinkedIn Sales Navigator, Channel Sales, Territory Management, Sales Operations, Microsoft PowerPoint, ZoomInfo, Salesloft, Inside Sales, Forecasting',
    ),
    remote: 0.3,
    duties: list(
      'find the people who have the problem, run a calm and well-kept pipeline, negotiate fairly, bring back what the market says, plan the territory, hand over cleanly to delivery',
    ),
  },
  {
    weight: 6,
    departments: list('Marketing, Growth Marketing, Communications, Content, Digital Marketing'),
    roles: list('Marketing Manager, Marketing Specialist, Content Writer, Campaign Manager, Growth Marketer'),
    specialities: list(
      'Product, Brand, Digital, Social Media, Email, Search, Field, Partner, Lifecycle, Event, Performance, Regional, Community, Editorial, Influencer, Retail, Corporate, Video, Affiliate, Customer',
    ),
    skills: list(
      'SEO, Google Analytics, Social Media Marketing, Content Marketing, Email Marketing, HubSpot, Google Ads, Copywriting, Digital Marketing, Marketing Automation, Paid Social, Marketo, Canva, WordPress, Meta Ads, Product Marketing, Event Management, Public Relations, Mailchimp, Growth Marketing',
    ),
    remote: 0.35,
    duties: list(
      'plan campaigns and learn from them, write what people want to read, keep the calendar, spend with care, work with designers and sales, report plainly',
    ),
  },
  {
    weight: 6,
    departments: list('Customer Support, Customer Success, Customer Service, Client Services, Support'),
    roles: list(
      'Customer Success Manager, Support Specialist, Support Engineer, Service Representative, Onboarding Specialist',
    ),
    specialities: list(
      'Technical, Enterprise, Bilingual, Premium, Night Shift, Chat, Phone, Product, Regional, Escalations, Billing, Implementation, Renewals, Community, Field, Tier 1, Tier 2, German-speaking, French-speaking, Spanish-speaking',
    ),
    skills: list(
      'Customer Success, Customer Service, Zendesk, Salesforce, CRM, Technical Support, Customer Onboarding, Excel, Jira, SQL, Freshdesk, Account Management, Microsoft Office, Google Workspace, Data Entry, Incident Management, HubSpot, ITIL',
    ),
    remote: 0.4,
    duties: list(
      'answer with patience and precision, notice patterns in what people ask, write articles that save a call, calm what is urgent, follow up until it is solved, train new customers',
    ),
  },
  {
    weight: 6,
    departments: list('Finance, Accounting, Finance & Accounting, Treasury, Audit'),
    roles: list('Accountant, Financial Analyst, Controller, Auditor, Payroll Specialist'),
    specialities: list(
      'Corporate, Tax, Revenue, Cost, Fund, Treasury, Credit, Internal, Project, Property, Group, Commercial, Plant, Operations, Technical, Billing, Regulatory, Investment, Grants, Inventory',
    ),
    skills: list(
      'Accounting, Excel, GAAP, Financial Reporting, Financial Analysis, Month-End Close, General Ledger, NetSuite, QuickBooks, SAP, Accounts Payable, Accounts Receivable, Budgeting, Financial Modeling, IFRS, Payroll, Auditing, Taxation, CPA, Sarbanes-Oxley, Power BI, Treasury, Financial Planning and Analysis, Risk Management',
    ),
    remote: 0.25,
    duties: list(
      'close the books on time, explain every variance, prepare figures that stand up to questions, improve controls, help managers plan, keep filings in order',
    ),
  },
  {
    weight: 4,
    departments: list('People, Human Resources, Talent Acquisition, People Operations, HR'),
    roles: list('Recruiter, HR Business Partner, HR Generalist, People Operations Specialist, Learning Specialist'),
    specialities: list(
      'Technical, Executive, University, Regional, Volume, Benefits, Corporate, Plant, Compensation, Engagement, Sales, Store, Early Careers, Contract, Mobility, Inclusion, Systems, Labor, Field, Clinical',
    ),
    skills: list(
      'Recruiting, Human Resources, HRIS, Employee Relations, Workday, Payroll, Excel, Greenhouse ATS, Change Management, Microsoft Office, Google Workspace, Project Management',
    ),
    remote: 0.3,
    duties: list(
      'find people and treat them well, keep records in order, advise managers in hard moments, make the first week a good one, run fair reviews, read the law with care',
    ),
  },
  {
    weight: 2,
    departments: list('Legal, Compliance, Legal & Compliance, Regulatory, Privacy'),
    roles: list('Legal Counsel, Compliance Officer, Paralegal, Contracts Manager, Compliance Analyst'),
    specialities: list(
      'Commercial, Corporate, Employment, Privacy, Product, Regulatory, Litigation, Technology, Real Estate, Financial Crime, Trade, Healthcare, Securities, Patent, Procurement, Public Sector, Ethics, Marketing, Licensing, Claims',
    ),
    skills: list(
      'Contract Management, Regulatory Compliance, Legal Research, GDPR, Litigation, Corporate Law, Intellectual Property, Data Privacy, Anti-Money Laundering, Know Your Customer, Risk Management, Microsoft Office, HIPAA',
    ),
    remote: 0.25,
    duties: list(
      'read contracts closely, give advice that can be acted on, watch for changes in the rules, train colleagues, keep evidence, settle disputes early',
    ),
  },
  {
    weight: 8,
    departments: list('Clinical, Nursing, Patient Care, Healthcare Services, Medical'),
    roles: list('Registered Nurse, Medical Assistant, Physical Therapist, Pharmacist, Radiologic Technologist'),
    specialities: list(
      'Emergency, Pediatric, Surgical, Oncology, Cardiac, Night Shift, Home Care, Outpatient, Intensive Care, Travel, Labor and Delivery, Rehabilitation, Dialysis, School, Float Pool, Community, Geriatric, Psychiatric, Orthopedic, Weekend',
    ),
    skills: list(
      'Patient Care, BLS, Electronic Health Records, Medication Administration, Vital Signs, ACLS, CPR, Critical Care, Medical Terminology, Phlebotomy, Infection Control, HIPAA, Epic EHR, Cerner, Telehealth, Pharmacy, Radiology, Physical Therapy, Home Health, Case Management',
    ),
    remote: 0.05,
    duties: list(
      'care for people with skill and kindness, keep charts complete, work with physicians and families, notice small changes early, teach patients before they go home, keep rooms ready',
    ),
  },
  {
    weight: 3,
    departments: list('Research, Laboratory, Clinical Development, Quality, Scientific Affairs'),
    roles: list(
      'Research Scientist, Research Associate, Laboratory Technician, Clinical Research Associate, Biostatistician',
    ),
    specialities: list(
      'Molecular Biology, Protein, Cell Therapy, Analytical, Assay, Immunology, Oncology, Genomics, Formulation, Process, Toxicology, Materials, Chemistry, Microbiology, Vaccine, Imaging, Quality, Stability, Neuroscience, Upstream',
    ),
    skills: list(
      'Clinical Trials, Good Clinical Practice, GMP, Cell Culture, PCR, Molecular Biology, Chromatography, Flow Cytometry, Bioinformatics, R, Python, Laboratory Techniques, Statistics, SAS, FDA Regulations, Mass Spectrometry, Medical Devices, Quality Control',
    ),
    remote: 0.1,
    duties: list(
      'plan and run studies, keep a notebook that others can follow, question surprising results, look after instruments, write protocols, present findings',
    ),
  },
  {
    weight: 5,
    departments: list('Operations, Supply Chain, Logistics, Procurement, Warehouse'),
    roles: list('Operations Manager, Supply Chain Analyst, Warehouse Associate, Buyer, Logistics Coordinator'),
    specialities: list(
      'Regional, Inbound, Outbound, Night Shift, Fulfillment, Import, Export, Fleet, Strategic, Cold Chain, Retail, Returns, Planning, Inventory, Distribution, Transport, Plant, Packaging, Last Mile, Materials',
    ),
    skills: list(
      'Supply Chain Management, Inventory Management, Excel, Warehouse Management, Procurement, Forklift Operation, SAP, Logistics, Demand Planning, Vendor Management, ERP Systems, Process Improvement, Lean Manufacturing, Six Sigma, Power BI, Customs Compliance, Data Entry',
    ),
    remote: 0.1,
    duties: list(
      'get things to where they are needed, keep stock true, talk with carriers and suppliers, plan the week, improve one step at a time, keep people safe',
    ),
  },
  {
    weight: 5,
    departments: list('Manufacturing, Production, Hardware Engineering, Mechanical Engineering, Quality Engineering'),
    roles: list('Mechanical Engineer, Electrical Engineer, Manufacturing Engineer, Quality Engineer, Process Engineer'),
    specialities: list(
      'Controls, Test, Battery, Packaging, Tooling, Robotics, Power, Validation, Automation, Design, Reliability, Sensors, Plant, Firmware, Optical, Thermal, Vehicle, Medical Device, Wind, Semiconductor',
    ),
    skills: list(
      'SolidWorks, AutoCAD, PLC Programming, GD&T, Lean Manufacturing, Six Sigma, Quality Control, Mechanical Engineering, Electrical Engineering, PCB Design, MATLAB, Manufacturing Processes, ISO 9001, Embedded Systems, LabVIEW, Preventive Maintenance, C++, Python, SCADA, 3D Printing, Blueprint Reading, Soldering',
    ),
    remote: 0.08,
    duties: list(
      'design parts that can be made, find root causes, bring new lines up to speed, write test plans, work with suppliers, keep drawings current',
    ),
  },
  {
    weight: 5,
    departments: list('Maintenance, Facilities, Construction, Field Service, Trades'),
    roles: list('Maintenance Technician, Electrician, HVAC Technician, Welder, Construction Manager'),
    specialities: list(
      'Industrial, Commercial, Residential, Night Shift, Journeyman, Apprentice, Field, Marine, Rail, Solar, Building, Site, Plant, Mobile, Elevator, Pipeline, Mechanical, Multi-Craft, Weekend, Traveling',
    ),
    skills: list(
      'Preventive Maintenance, Electrical Work, HVAC, Plumbing, Welding, Blueprint Reading, OSHA, Workplace Safety, Power Tools, Hydraulics, PLC Programming, Carpentry, Heavy Equipment Operation, Forklift Operation, Construction Management, Pneumatics, Solar Installation, Sheet Metal, Industrial Maintenance, Refrigeration',
    ),
    remote: 0.01,
    duties: list(
      'keep equipment running, read the drawings before the first cut, work safely at height, log every repair, respond to call-outs, leave the site clean',
    ),
  },
  {
    weight: 6,
    departments: list('Retail, Store Operations, Hospitality, Food & Beverage, Guest Services'),
    roles: list('Store Manager, Sales Associate, Shift Supervisor, Line Cook, Guest Services Agent'),
    specialities: list(
      'Assistant, Seasonal, Weekend, Night Shift, Flagship, Outlet, Airport, Grocery, Fashion, Electronics, Pharmacy, Bakery, Banquet, Front Desk, Restaurant, Bar, Kitchen, Garden, Beauty, Sporting Goods',
    ),
    skills: list(
      'Customer Service, Cash Handling, Merchandising, Inventory Management, Food Safety, Retail Sales, Culinary Arts, Bartending, Housekeeping, Barista, First Aid, Event Management, Data Entry, Microsoft Office',
    ),
    remote: 0.01,
    duties: list(
      'welcome everyone who comes in, keep the floor tidy and stocked, open and close with care, train new colleagues, handle the till, solve small problems on the spot',
    ),
  },
  {
    weight: 3,
    departments: list('Education, Academics, Childcare, Student Services, Training'),
    roles: list('Teacher, Instructor, Tutor, Program Coordinator, Academic Advisor'),
    specialities: list(
      'Mathematics, Science, English, Special Education, Elementary, Early Years, Music, Physical Education, Spanish, History, Computing, Art, Adult, Evening, Online, Bilingual, Chemistry, After School, Summer, College',
    ),
    skills: list(
      'Teaching, Childcare, First Aid, Google Workspace, Microsoft Office, Counseling, Data Entry, Case Management, CPR, Project Management, Learning and Development',
    ),
    remote: 0.12,
    duties: list(
      'plan lessons that reach everyone, keep parents informed, assess fairly, work with colleagues on the curriculum, make rooms safe and lively, support those who fall behind',
    ),
  },
  {
    weight: 3,
    departments: list('Administration, Executive Office, Corporate, General Management, Office Operations'),
    roles: list('Office Manager, Executive Assistant, Administrative Assistant, Chief of Staff, Receptionist'),
    specialities: list(
      'Bilingual, Senior Leadership, Legal, Medical, Regional, Part-Time, Facilities, Front Office, Board, Project, Founder, Clinic, Campus, Plant, Sales, Finance, Research, Branch, Studio, Evening',
    ),
    skills: list(
      'Microsoft Office, Excel, Google Workspace, Microsoft Outlook, Data Entry, Event Management, Microsoft PowerPoint, Project Management, Bookkeeping, Microsoft Word, SharePoint, Microsoft Teams, Budgeting',
    ),
    remote: 0.15,
    duties: list(
      'keep calendars and promises, prepare meetings, look after visitors, order what runs out, keep confidences, write clear notes',
    ),
  },
];

/** Seniority words and their weights; the plain title is the most usual. */
const SENIORITIES: readonly (readonly [string, number])[] = [
  ['', 34],
  ['Senior', 24],
  ['Lead', 7],
  ['Junior', 6],
  ['Staff', 5],
  ['Principal', 4],
  ['Associate', 6],
  ['Mid-Level', 3],
  ['Experienced', 3],
  ['Trainee', 1],
  ['Graduate', 2],
  ['Sr.', 3],
  ['Entry Level', 1],
];
const INTERN = 'Intern,';

/** Company areas that follow a title after a comma, and departments after a dash. */
const AREAS = list(
  'Core, Growth, Platform, Consumer, Enterprise, International, Payments, Mobile, Trust, Experience, Foundations, Insights, Emerging Markets, New Products, Commerce, Media, Ads, Health, Mobility, Energy, Cloud, Devices, Public Sector, Retail, Education, Travel, Insurance, Lending, Real Estate, Agriculture, Space, Climate, Games, Music, Maps, Logistics, Loyalty, Marketplace, Partners, Internal Tools, Automation, Quality, Innovation, Central Services, Shared Services, Special Projects, Regional Team, Night Team, Second Shift, Pacific, Nordics, Benelux, Iberia, Central Europe, Middle East, Southeast Asia, Latin America, North America, West Coast, East Coast',
);
const DEPARTMENT_AREAS = list(
  'Platform, Growth, Core, Enterprise, International, EMEA, APAC, Americas, Operations, Strategy, Consumer, Commercial, Field, Corporate, Central',
);
const QUALIFIERS = list(
  'Remote, Hybrid, Contract, 12 Months, Fixed Term, m/f/d, All Genders, Evening, Relocation, Urgent',
);

/** City and region or state by country, heads first; the rank in a country and the country's weight make the head. */
const PLACES: readonly (readonly [country: string, weight: number, cities: string])[] = [
  [
    'United States',
    46,
    'San Francisco|CA, New York|NY, Austin|TX, Seattle|WA, Boston|MA, Chicago|IL, Los Angeles|CA, Denver|CO, Atlanta|GA, Dallas|TX, Houston|TX, San Diego|CA, Washington|DC, San Jose|CA, Philadelphia|PA, Phoenix|AZ, Miami|FL, Minneapolis|MN, Portland|OR, Charlotte|NC, Raleigh|NC, Nashville|TN, Salt Lake City|UT, Columbus|OH, Tampa|FL, Orlando|FL, Detroit|MI, Pittsburgh|PA, St. Louis|MO, Kansas City|MO, Indianapolis|IN, San Antonio|TX, Las Vegas|NV, Sacramento|CA, Cincinnati|OH, Cleveland|OH, Milwaukee|WI, Baltimore|MD, Richmond|VA, Jacksonville|FL, Louisville|KY, Memphis|TN, Oklahoma City|OK, New Orleans|LA, Tucson|AZ, Albuquerque|NM, Omaha|NE, Boise|ID, Madison|WI, Hartford|CT, Providence|RI, Buffalo|NY, Rochester|NY, Des Moines|IA, Birmingham|AL, Huntsville|AL, Charleston|SC, Greenville|SC, Savannah|GA, Knoxville|TN, Chattanooga|TN, Little Rock|AR, Tulsa|OK, Wichita|KS, Spokane|WA, Tacoma|WA, Eugene|OR, Reno|NV, Fresno|CA, Oakland|CA, Palo Alto|CA, Mountain View|CA, Sunnyvale|CA, Santa Clara|CA, Irvine|CA, Long Beach|CA, Boulder|CO, Colorado Springs|CO, Fort Collins|CO, Plano|TX, Fort Worth|TX, El Paso|TX, Arlington|VA, Reston|VA, Bethesda|MD, Cambridge|MA, Worcester|MA, Burlington|VT, Manchester|NH, Portland|ME, Albany|NY, Jersey City|NJ, Newark|NJ, Princeton|NJ, Wilmington|DE, Durham|NC, Greensboro|NC, Ann Arbor|MI, Grand Rapids|MI, Dayton|OH, Toledo|OH, Lexington|KY, Fort Wayne|IN, Peoria|IL, Rockford|IL, Green Bay|WI, Duluth|MN, Fargo|ND, Sioux Falls|SD, Billings|MT, Cheyenne|WY, Anchorage|AK, Honolulu|HI, Baton Rouge|LA, Jackson|MS, Mobile|AL, Tallahassee|FL, Fort Lauderdale|FL, Sarasota|FL, Lubbock|TX, Waco|TX, Provo|UT, Scottsdale|AZ, Tempe|AZ',
  ],
  [
    'United Kingdom',
    9,
    'London|England, Manchester|England, Edinburgh|Scotland, Bristol|England, Cambridge|England, Leeds|England, Birmingham|England, Glasgow|Scotland, Oxford|England, Belfast|Northern Ireland, Cardiff|Wales, Liverpool|England, Sheffield|England, Newcastle|England, Nottingham|England, Reading|England, Brighton|England, Southampton|England, Leicester|England, York|England, Aberdeen|Scotland, Milton Keynes|England, Coventry|England, Exeter|England, Norwich|England',
  ],
  [
    'India',
    8,
    'Bengaluru|Karnataka, Hyderabad|Telangana, Pune|Maharashtra, Mumbai|Maharashtra, Gurugram|Haryana, Chennai|Tamil Nadu, New Delhi|Delhi, Noida|Uttar Pradesh, Kolkata|West Bengal, Ahmedabad|Gujarat, Kochi|Kerala, Jaipur|Rajasthan, Coimbatore|Tamil Nadu, Indore|Madhya Pradesh, Chandigarh|Punjab, Nagpur|Maharashtra, Bhubaneswar|Odisha, Mysuru|Karnataka',
  ],
  [
    'Germany',
    6,
    'Berlin|Berlin, München|Bayern, Hamburg|Hamburg, Frankfurt|Hessen, Köln|Nordrhein-Westfalen, Stuttgart|Baden-Württemberg, Düsseldorf|Nordrhein-Westfalen, Leipzig|Sachsen, Dresden|Sachsen, Nürnberg|Bayern, Hannover|Niedersachsen, Bremen|Bremen, Karlsruhe|Baden-Württemberg, Essen|Nordrhein-Westfalen, Dortmund|Nordrhein-Westfalen, Bonn|Nordrhein-Westfalen, Münster|Nordrhein-Westfalen, Augsburg|Bayern, Freiburg|Baden-Württemberg, Kiel|Schleswig-Holstein, Jena|Thüringen',
  ],
  [
    'Canada',
    6,
    'Toronto|ON, Vancouver|BC, Montréal|QC, Calgary|AB, Ottawa|ON, Waterloo|ON, Edmonton|AB, Winnipeg|MB, Halifax|NS, Victoria|BC, Québec|QC, Mississauga|ON, Hamilton|ON, London|ON, Kitchener|ON, Saskatoon|SK, Regina|SK, Kelowna|BC, Fredericton|NB',
  ],
  [
    'France',
    4,
    'Paris|Île-de-France, Lyon|Auvergne-Rhône-Alpes, Toulouse|Occitanie, Nantes|Pays de la Loire, Bordeaux|Nouvelle-Aquitaine, Lille|Hauts-de-France, Marseille|Provence, Nice|Provence, Grenoble|Auvergne-Rhône-Alpes, Rennes|Bretagne, Montpellier|Occitanie, Strasbourg|Grand Est',
  ],
  ['Ireland', 2, 'Dublin|Leinster, Cork|Munster, Galway|Connacht, Limerick|Munster, Waterford|Munster'],
  [
    'Netherlands',
    2,
    'Amsterdam|Noord-Holland, Rotterdam|Zuid-Holland, Utrecht|Utrecht, Eindhoven|Noord-Brabant, Den Haag|Zuid-Holland, Delft|Zuid-Holland, Groningen|Groningen',
  ],
  [
    'Spain',
    2,
    'Madrid|Madrid, Barcelona|Catalunya, València|Comunitat Valenciana, Málaga|Andalucía, Sevilla|Andalucía, Bilbao|Euskadi, Zaragoza|Aragón',
  ],
  [
    'Poland',
    2,
    'Warszawa|Mazowieckie, Kraków|Małopolskie, Wrocław|Dolnośląskie, Gdańsk|Pomorskie, Poznań|Wielkopolskie, Łódź|Łódzkie, Katowice|Śląskie',
  ],
  ['Portugal', 1, 'Lisboa|Lisboa, Porto|Porto, Braga|Braga, Coimbra|Coimbra'],
  [
    'Italy',
    1,
    'Milano|Lombardia, Roma|Lazio, Torino|Piemonte, Bologna|Emilia-Romagna, Firenze|Toscana, Napoli|Campania',
  ],
  ['Sweden', 1, 'Stockholm|Stockholm, Göteborg|Västra Götaland, Malmö|Skåne, Uppsala|Uppsala, Linköping|Östergötland'],
  ['Denmark', 1, 'København|Hovedstaden, Aarhus|Midtjylland, Odense|Syddanmark'],
  ['Norway', 1, 'Oslo|Oslo, Bergen|Vestland, Trondheim|Trøndelag, Stavanger|Rogaland'],
  ['Finland', 1, 'Helsinki|Uusimaa, Espoo|Uusimaa, Tampere|Pirkanmaa, Oulu|Pohjois-Pohjanmaa'],
  ['Switzerland', 1, 'Zürich|ZH, Genève|GE, Basel|BS, Lausanne|VD, Bern|BE, Zug|ZG'],
  ['Austria', 1, 'Wien|Wien, Graz|Steiermark, Linz|Oberösterreich, Salzburg|Salzburg'],
  ['Belgium', 1, 'Bruxelles|Brussels, Antwerpen|Vlaanderen, Gent|Vlaanderen, Leuven|Vlaanderen'],
  ['Czechia', 1, 'Praha|Praha, Brno|Jihomoravský kraj, Ostrava|Moravskoslezský kraj'],
  ['Romania', 1, 'București|București, Cluj-Napoca|Cluj, Iași|Iași, Timișoara|Timiș'],
  ['Israel', 1, 'Tel Aviv|Tel Aviv, Haifa|Haifa, Jerusalem|Jerusalem, Herzliya|Tel Aviv'],
  ['United Arab Emirates', 1, 'Dubai|Dubai, Abu Dhabi|Abu Dhabi, Sharjah|Sharjah'],
  ['Singapore', 2, 'Singapore|Singapore'],
  [
    'Australia',
    3,
    'Sydney|NSW, Melbourne|VIC, Brisbane|QLD, Perth|WA, Adelaide|SA, Canberra|ACT, Hobart|TAS, Newcastle|NSW',
  ],
  ['New Zealand', 1, 'Auckland|Auckland, Wellington|Wellington, Christchurch|Canterbury, Dunedin|Otago'],
  ['Japan', 2, 'Tokyo|Tokyo, Osaka|Osaka, Kyoto|Kyoto, Fukuoka|Fukuoka, Nagoya|Aichi, Sapporo|Hokkaido'],
  ['South Korea', 1, 'Seoul|Seoul, Busan|Busan, Incheon|Incheon, Daejeon|Daejeon'],
  [
    'Brazil',
    2,
    'São Paulo|SP, Rio de Janeiro|RJ, Belo Horizonte|MG, Curitiba|PR, Porto Alegre|RS, Recife|PE, Florianópolis|SC',
  ],
  [
    'Mexico',
    1,
    'Ciudad de México|CDMX, Guadalajara|Jalisco, Monterrey|Nuevo León, Querétaro|Querétaro, Tijuana|Baja California',
  ],
  ['Argentina', 1, 'Buenos Aires|Buenos Aires, Córdoba|Córdoba, Rosario|Santa Fe, Mendoza|Mendoza'],
  ['Colombia', 1, 'Bogotá|Cundinamarca, Medellín|Antioquia, Cali|Valle del Cauca, Barranquilla|Atlántico'],
  ['Philippines', 1, 'Manila|Metro Manila, Cebu City|Cebu, Quezon City|Metro Manila, Davao City|Davao'],
  ['Malaysia', 1, 'Kuala Lumpur|Kuala Lumpur, Penang|Penang, Johor Bahru|Johor'],
  [
    'South Africa',
    1,
    'Cape Town|Western Cape, Johannesburg|Gauteng, Durban|KwaZulu-Natal, Pretoria|Gauteng, Stellenbosch|Western Cape',
  ],
  ['Nigeria', 1, 'Lagos|Lagos, Abuja|FCT, Ibadan|Oyo'],
  ['Kenya', 1, 'Nairobi|Nairobi, Mombasa|Mombasa, Kisumu|Kisumu'],
];
const REMOTE_REGIONS = list('US, Europe, EMEA, APAC, Worldwide, Americas, LATAM, EU, North America, UK, Canada, India');

// ---- companies ---------------------------------------------------------------------------------------------------

const NAME_STARTS = list(
  'Al, Bar, Bel, Bri, Cal, Cor, Dal, Del, Dor, El, Fal, Fen, Gal, Gra, Hal, Hel, Ist, Jor, Kal, Kel, Lan, Lor, Mar, Mel, Nor, Ol, Or, Pel, Quil, Ral, Riv, Sal, Sel, Tal, Tor, Ul, Val, Ver, Wel, Zan',
);
const NAME_MIDDLES = list(
  'a, an, ar, e, en, er, i, in, ir, o, on, or, u, un, ami, edo, iva, ona, ura, eli, oro, ani, eta, ilo, uma, avi, eno, isa, omi, ude',
);
const NAME_ENDS = list(
  'bex, cade, dane, dix, fax, gard, holt, kin, lith, lux, mark, mont, nell, nova, phor, quest, ric, son, tane, tek, tis, vale, ven, via, wick, xis, yard, zen, zor, brook',
);
/** The first is no addition at all. */
const NAME_ADDITIONS = list(
  '-, Labs, Systems, Group, Health, Technologies, Instruments, Analytics, Logistics, Foods, Energy, Capital, Software, Therapeutics, Studios, Insurance, Retail, Networks, Works, Partners, Clinics, Motors, Builders',
);
const NAME_COUNT = NAME_STARTS.length * NAME_MIDDLES.length * NAME_ENDS.length * NAME_ADDITIONS.length;
/** Odd and prime to NAME_COUNT (2^5 * 3^2 * 5^3 * 23): multiplication by it visits every name once. */
const NAME_STEP = 317_771;

/** Companies a job needs on average: a million jobs make 48,000, most of them with a handful. */
const COMPANIES_PER_JOB = 0.048;
const COMPANY_COUNT_MIN = 40;
/** Shift of the law of company sizes; at a million jobs the largest company has 6.6 % of them. */
const COMPANY_SHIFT = 0.4;
const COMPANIES_WITHOUT_DOMAIN = 0.06;

interface Company {
  readonly name: string;
  readonly domain: string | null;
  /** Everything of a source URL before the job's own part. */
  readonly urlBase: string;
  /** Its usual places, the first most of all. */
  readonly places: readonly number[];
  /** Discipline it hires for more than others do. */
  readonly focus: number;
}

function companyName(index: number, offset: number): string {
  let left = (index * NAME_STEP + offset) % NAME_COUNT;
  const digit = (words: readonly string[]): string => {
    const word = words[left % words.length]!;
    left = Math.floor(left / words.length);
    return word;
  };
  const root = digit(NAME_STARTS) + digit(NAME_MIDDLES) + digit(NAME_ENDS);
  const addition = digit(NAME_ADDITIONS);
  const name = addition === '-' ? root : `${root} ${addition}`;
  // Past the last name the same come again, with a number.
  return index < NAME_COUNT ? name : `${name} ${Math.floor(index / NAME_COUNT) + 1}`;
}

const BOARD_HOSTS = list('boards.hirelane.example, apply.jobharbor.example, careers.talentdock.example');

/** 36^7: ids have seven digits to the base 36 behind their prefix. */
const ID_COUNT = 78_364_164_096;
/** Prime to 36, so that every index below ID_COUNT has an id of its own; JOB_COUNT_MAX times it is exact. */
const ID_STEP = 56_598_313;

// ---- texts -------------------------------------------------------------------------------------------------------

const OPENINGS = list(
  'is looking for, is hiring, would like to meet, has an opening for, is growing and needs, wants to add to its team',
);
const MISSIONS = [
  'We make everyday work lighter for people who have too much of it.',
  'Our customers run small and large businesses, and they count on us every day.',
  'We started at a kitchen table and still decide quickly.',
  'More than two hundred of us work from five offices and many homes.',
  'What we make is used in hospitals, schools and workshops.',
  'We are owned by the people who work here, and we plan for decades.',
  'Our team is small, our users are many, and both talk to each other.',
  'We believe that good service is mostly attention.',
];
const SKILL_LEADS = [
  'You bring experience with',
  'Day to day you will work with',
  'We expect working knowledge of',
  'You should be comfortable with',
  'The work calls for',
];
const SKILL_EXTRAS = ['It helps if you know', 'A plus:', 'Good to have:', 'You may also meet'];
const CLOSINGS = [
  'Pay and hours are agreed before you start, and we stand by them.',
  'Tell us in a few lines what you are proud of; a cover letter is not needed.',
  'We read every application and answer within two weeks.',
  'We welcome people of every background and arrange interviews around your needs.',
  'The interview has three steps: a call, a piece of work and a day with the team.',
];
const PERKS = [
  'You get a budget for learning, thirty days of leave and equipment that you choose yourself.',
  'You will have a mentor in the first months and time to find your feet.',
  'We keep meetings short and mornings free, and nobody expects an answer at night.',
  'You work in a team of six to nine people who have known each other for a while.',
  'There is room to grow, towards leading people or towards deeper work of your own.',
];
/** How texts write skills whose bare name is an everyday word and would be read only beside another skill. */
const WRITTEN: ReadonlyMap<string, string> = new Map([
  ['Agile', 'agile methodologies'],
  ['Childcare', 'early childhood education'],
  ['Counseling', 'counseling services'],
  ['Confluence', 'Atlassian Confluence'],
  ['Excel', 'Microsoft Excel'],
  ['Forecasting', 'sales forecasting'],
  ['Helm', 'Helm charts'],
  ['Learning and Development', 'learning and development programs'],
  ['Logistics', 'logistics operations'],
  ['Negotiation', 'contract negotiation'],
  ['Swift', 'Swift programming'],
  ['Teaching', 'lesson planning'],
  ['Workday', 'Workday HCM'],
]);
const YEARS = list('one year, two years, three years, four years, five years, seven years');

function listed(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`;
}

const HTML_SPECIAL = /[&<>]/g;
const HTML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(HTML_SPECIAL, (character) => HTML_ENTITIES[character]!);

/**
 * The advertisement of a job. Skills stand in running lists of at least two (an ambiguous name such as Go is read only
 * beside another skill) or as list items.
 */
function descriptionOf(
  chance: Chance,
  company: string,
  title: string,
  duties: readonly string[],
  skills: readonly string[],
): string {
  const html = chance.unit() < 0.35;
  const write = html ? escaped : (text: string): string => text;
  const from = chance.below(duties.length);
  const duty = (place: number): string => duties[(from + place) % duties.length]!;
  const head = `${company} ${chance.pick(OPENINGS)} ${/^[AEIO]/.test(title) ? 'an' : 'a'} ${title}.`;
  const mission = `${chance.pick(MISSIONS)} ${chance.pick(MISSIONS)}`;
  const names = skills.map((skill) => WRITTEN.get(skill) ?? skill);
  const split = names.length >= 4 ? names.length - 2 : names.length;
  const needed = names.slice(0, split);
  const extra = names.slice(split);
  const need = `${chance.pick(SKILL_LEADS)} ${listed(needed)}.`;
  const wish = extra.length === 0 ? '' : `${chance.pick(SKILL_EXTRAS)} ${listed(extra)}. `;
  const years = `At least ${chance.pick(YEARS)} in a similar role, and the habit of finishing what you begin.`;
  const closing = chance.pick(CLOSINGS);
  const bullets = chance.unit() < 0.5;
  if (!html) {
    const tasks = bullets
      ? `What you will do\n- ${duty(0)}\n- ${duty(1)}\n- ${duty(2)}\n- ${duty(3)}`
      : `In this role you will ${duty(0)}, ${duty(1)} and ${duty(2)}. You will also ${duty(3)}.`;
    return `${head} ${mission}\n\n${tasks}\n\n${need} ${wish}${years}\n\n${chance.pick(PERKS)} ${closing}`;
  }
  const tasks = `<ul><li>${duty(0)}</li><li>${duty(1)}</li><li>${duty(2)}</li><li>${duty(3)}</li></ul>`;
  const needs =
    bullets && needed.length > 1
      ? `<ul><li>${needed.map(write).join('</li><li>')}</li></ul><p>${write(wish)}${years}</p>`
      : `<p>${write(need)} ${write(wish)}${years}</p>`;
  return `<p><strong>${write(head)}</strong> ${mission}</p><h3>What you will do</h3>${tasks}<h3>What you bring</h3>${needs}<p>${chance.pick(PERKS)} ${closing}</p>`;
}

// ---- records -----------------------------------------------------------------------------------------------------

/** Columns: weight where the work is done at a desk, and where it is done on the spot. */
const EMPLOYMENT: readonly (readonly [EmploymentType, desk: number, spot: number])[] = [
  ['full_time', 70, 56],
  ['unknown', 18, 17],
  ['contract', 8, 4],
  ['part_time', 2, 17],
  ['temporary', 2, 6],
];
/** Disciplines that can be done remotely less often than this are work on the spot. */
const DESK_REMOTE_MIN = 0.13;

/** Days since the last observation of an active job that was seen this week: most were seen today or yesterday. */
const WEEK_WEIGHTS = [46, 22, 11, 8, 6, 4, 3];
const SEEN_THIS_WEEK = 0.88;
const CLOSED = 0.17;

const twoDigits = (count: number): string => (count < 10 ? `0${count}` : String(count));

/** Date-times from day numbers, each day formatted once. */
class Days {
  readonly #texts = new Map<number, string>();

  /** `YYYY-MM-DD`; day 0 is 1970-01-01. */
  date(day: number): string {
    let text = this.#texts.get(day);
    if (text === undefined) {
      text = new Date(day * DAY_MS).toISOString().slice(0, 10);
      this.#texts.set(day, text);
    }
    return text;
  }

  midnight(day: number): string {
    return `${this.date(day)}T00:00:00Z`;
  }

  second(day: number, second: number): string {
    const minute = Math.floor(second / 60);
    const clock = `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}:${twoDigits(second % 60)}`;
    return `${this.date(day)}T${clock}Z`;
  }
}

interface Place {
  readonly city: string;
  readonly region: string;
  readonly country: string;
}

function locationOf(chance: Chance, place: Place, other: Place, remote: RemoteStatus): string | null {
  const form = chance.below(100);
  if (remote === 'remote') {
    if (form < 35) return `Remote - ${place.country}`;
    if (form < 55) return `Remote - ${chance.pick(REMOTE_REGIONS)}`;
    if (form < 65) return 'Remote';
    if (form < 75) return `${place.city}, ${place.country} (Remote)`;
  }
  if (form < 55)
    return place.country === 'United States' ? `${place.city}, ${place.region}` : `${place.city}, ${place.country}`;
  if (form < 75) return `${place.city}, ${place.region}, ${place.country}`;
  if (form < 85) return place.city;
  if (form < 91) return `${place.city}, ${place.country}; ${other.city}, ${other.country}`;
  if (form < 94) return place.country;
  if (form < 97) return `${place.city} or ${other.city}`;
  return null;
}

/**
 * The records, one at a time, in no particular order.
 * @throws RangeError when an option is out of its range; nothing has been made then.
 */
export function* synthRecords(options: SynthOptions): Generator<NativeRecord> {
  const { jobs, seed, asOfMs, descriptions } = options;
  if (!Number.isInteger(jobs) || jobs < 0 || jobs > JOB_COUNT_MAX) {
    throw new RangeError(`jobs must be a whole number from 0 to ${JOB_COUNT_MAX}`);
  }
  if (!Number.isInteger(seed)) throw new RangeError('seed must be a whole number');
  if (!(asOfMs >= 1000 * DAY_MS) || asOfMs > 253_402_300_799_999) {
    throw new RangeError('asOfMs must lie between 1972 and the end of the year 9999');
  }

  const chance = new Chance(seed, 1);
  const places: Place[] = [];
  const placeWeights: number[] = [];
  for (const [country, weight, cities] of PLACES) {
    const entries = list(cities);
    const shares = zipfWeights(entries.length, 1);
    const total = shares.reduce((sum, share) => sum + share, 0);
    for (const [rank, entry] of entries.entries()) {
      const [city = '', region = ''] = entry.split('|');
      places.push({ city, region, country });
      placeWeights.push((weight * shares[rank]!) / total);
    }
  }
  const placeDraw = new Draw(placeWeights);
  const disciplineDraw = new Draw(DISCIPLINES.map((discipline) => discipline.weight));
  const skillDraws = DISCIPLINES.map(({ skills }) => new Draw(zipfWeights(skills.length, 3)));
  const departmentLists = DISCIPLINES.map(({ departments }) => [
    ...departments,
    ...DEPARTMENT_AREAS.map((area) => `${departments[0]!} - ${area}`),
  ]);
  const departmentDraw = new Draw(zipfWeights(departmentLists[0]!.length, -0.4));
  const seniorityDraw = new Draw(SENIORITIES.map(([, weight]) => weight));
  const deskDraw = new Draw(EMPLOYMENT.map(([, desk]) => desk));
  const spotDraw = new Draw(EMPLOYMENT.map(([, , spot]) => spot));
  const weekDraw = new Draw(WEEK_WEIGHTS);
  const staleDraw = new Draw(decayWeights(120, 0.96)); // mean 24 days, behind the first week
  const closedDraw = new Draw(decayWeights(400, 0.985)); // mean 66 days, behind the third
  const ageDraw = new Draw(decayWeights(365, 0.973)); // mean 36 days from first to last observation

  const companyCount = Math.max(COMPANY_COUNT_MIN, Math.round(jobs * COMPANIES_PER_JOB));
  const companyDraw = new Draw(zipfWeights(companyCount, COMPANY_SHIFT));
  const nameOffset = chance.below(NAME_COUNT);
  const companies: Company[] = [];
  for (let index = 0; index < companyCount; index++) {
    const name = companyName(index, nameOffset);
    const slug = name.toLowerCase().replaceAll(' ', '-');
    const domain = chance.unit() < COMPANIES_WITHOUT_DOMAIN ? null : `${slug}.example`;
    const own = domain !== null && chance.unit() < 0.4;
    companies.push({
      name,
      domain,
      urlBase: own ? `https://careers.${domain}/jobs/` : `https://${chance.pick(BOARD_HOSTS)}/${slug}/postings/`,
      places: [placeDraw.next(chance), placeDraw.next(chance), placeDraw.next(chance)],
      focus: disciplineDraw.next(chance),
    });
  }

  const today = Math.floor(asOfMs / DAY_MS);
  const days = new Days();
  const idOffset = chance.below(0x1_0000_0000);
  const wording = new Chance(seed, 2);
  for (let index = 0; index < jobs; index++) {
    const company = companies[companyDraw.next(chance)]!;
    const disciplineIndex = chance.unit() < 0.3 ? company.focus : disciplineDraw.next(chance);
    const discipline = DISCIPLINES[disciplineIndex]!;

    const internship = chance.unit() < 0.03;
    const seniority = internship ? INTERN : SENIORITIES[seniorityDraw.next(chance)]![0];
    const role = chance.pick(discipline.roles);
    const speciality = chance.pick(discipline.specialities);
    const detail = chance.unit();
    let title = detail < 0.12 ? role : `${speciality} ${role}`;
    if (seniority !== '') title = `${seniority} ${title}`;
    if (detail > 0.5) title += `, ${chance.pick(AREAS)}`;
    if (detail > 0.92) title += ` (${chance.pick(QUALIFIERS)})`;

    const remoteChance = chance.unit();
    const remote: RemoteStatus =
      remoteChance < discipline.remote * 0.6
        ? 'remote'
        : remoteChance < discipline.remote * 1.1
          ? 'hybrid'
          : chance.unit() < 0.45
            ? 'on_site'
            : 'unknown';
    const employment: EmploymentType = internship
      ? chance.unit() < 0.85
        ? 'internship'
        : 'unknown'
      : EMPLOYMENT[(discipline.remote < DESK_REMOTE_MIN ? spotDraw : deskDraw).next(chance)]![0];

    const home = chance.below(10);
    const place =
      places[home < 5 ? company.places[0]! : home < 8 ? company.places[home - 5]! : placeDraw.next(chance)]!;
    const location = locationOf(chance, place, places[company.places[1]!]!, remote);
    const department = chance.unit() < 0.14 ? null : departmentLists[disciplineIndex]![departmentDraw.next(chance)]!;

    // Two to six different skills; a repeated draw is dropped, but the second is always another one.
    const skillCount = 2 + Math.min(chance.below(4), chance.below(6));
    const skillDraw = skillDraws[disciplineIndex]!;
    const skills: string[] = [];
    for (let i = 0; i < skillCount; i++) {
      const skill = discipline.skills[skillDraw.next(chance)]!;
      if (!skills.includes(skill)) skills.push(skill);
    }
    if (skills.length === 1) skills.push(discipline.skills[skills[0] === discipline.skills[0] ? 1 : 0]!);

    const closed = chance.unit() < CLOSED;
    const unseenDays = closed
      ? 8 + closedDraw.next(chance) + chance.below(14)
      : chance.unit() < SEEN_THIS_WEEK
        ? weekDraw.next(chance)
        : 7 + staleDraw.next(chance);
    const lastDay = today - unseenDays;
    const ageDays = ageDraw.next(chance);
    const second = chance.below(86_400);
    const lastObserved = days.midnight(lastDay);

    const code = ((index * ID_STEP + idOffset) % ID_COUNT).toString(36).padStart(7, '0');
    const record: NativeRecord = {
      id: `job_${code}`,
      title,
      company: company.name,
      company_domain: company.domain,
      location,
      department,
      remote_status: remote,
      employment_type: employment,
      source_url: `${company.urlBase}${hex(chance.bits())}-${code}`,
      first_observed_at: ageDays === 0 ? lastObserved : days.second(lastDay - ageDays, second),
      last_observed_at: lastObserved,
      status: closed ? 'closed' : 'active',
    };
    if (descriptions) {
      wording.reseed(seed, index + 3);
      record.description = descriptionOf(wording, company.name, title, discipline.duties, skills);
    } else {
      record.skills = skills;
    }
    yield record;
  }
}

/** Eight hexadecimal digits of 32 bits. */
function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0');
}
