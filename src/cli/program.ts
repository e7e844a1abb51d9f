/**
 * The commands of `paygrade`. A new one is a file that declares a `Command`, and a stub here. The stubs load a command's module
 * only when someone calls that command, so `serve` starts without the code of the others.
 */
import { VERSION } from '../base/version.ts';
import type { CommandGroup, CommandStub, Program } from './command.ts';

const snapshot: CommandGroup = {
  summary: 'Builds, shows and exports catalogue files',
  commands: {
    build: {
      summary: 'Builds a catalogue file from job records, or from a catalogue',
      load: async () => (await import('./snapshot/build.ts')).snapshotBuild,
    },
    inspect: {
      summary: 'Shows what a catalogue file holds',
      load: async () => (await import('./snapshot/inspect.ts')).snapshotInspect,
    },
    export: {
      summary: 'Writes a catalogue back as one JSON object a line',
      load: async () => (await import('./snapshot/export.ts')).snapshotExport,
    },
    synth: {
      summary: 'Makes a synthetic catalogue from a seed',
      load: async () => (await import('./snapshot/synth.ts')).snapshotSynth,
    },
  },
};

const companies: CommandGroup = {
  summary: 'The companies of a catalogue, and the domains by which buyers ask for them',
  itself: {
    summary: 'Lists the companies of a catalogue with their domains and where those are from',
    load: async () => (await import('./companies/list.ts')).listCompanies,
  },
  commands: {
    set: {
      summary: 'States the domain of a company, which every later build uses',
      load: async () => (await import('./companies/set.ts')).setCompany,
    },
    import: {
      summary: 'States the domains of companies from a CSV file',
      load: async () => (await import('./companies/import.ts')).importCompanies,
    },
  },
};

const listBoards: CommandStub = {
  summary: 'Lists the watched boards of a catalogue with their health',
  load: async () => (await import('./boards/list.ts')).listBoards,
};

const boards: CommandGroup = {
  summary: 'The boards that a catalogue watches',
  itself: listBoards,
  commands: {
    add: {
      summary: 'Adds boards to a catalogue by any careers address, and says what each one is',
      load: async () => (await import('./boards/add.ts')).addBoard,
    },
    list: listBoards,
    remove: {
      summary: 'Stops watching boards; the catalogue keeps their jobs as they are',
      load: async () => (await import('./boards/remove.ts')).removeBoards,
    },
    check: {
      summary: 'Asks watched boards what they have now, and changes nothing',
      load: async () => (await import('./boards/check.ts')).checkBoards,
    },
    import: {
      summary: 'Adds boards from a CSV file',
      load: async () => (await import('./boards/import.ts')).importBoards,
    },
  },
};

const callback: CommandGroup = {
  summary: 'Webhook addresses for ten minutes',
  commands: {
    new: {
      summary: 'Pays for a callback and prints its address and read token',
      load: async () => (await import('./callback/new.ts')).newCallback,
    },
    wait: {
      summary: 'Prints the events of a callback as they arrive, until it ends',
      load: async () => (await import('./callback/wait.ts')).waitForEvents,
    },
    listen: {
      summary: 'Forwards the events of a callback to a server of your own, as they arrive',
      load: async () => (await import('./callback/listen.ts')).listenAndForward,
    },
    events: {
      summary: 'Lists the stored events of a callback',
      load: async () => (await import('./callback/events.ts')).listEvents,
    },
    rm: {
      summary: 'Deletes a callback and its events',
      load: async () => (await import('./callback/rm.ts')).removeCallback,
    },
    verify: {
      summary: 'Checks the signature of a stored event with the sender’s own library',
      load: async () => (await import('./callback/verify.ts')).verifyEvent,
    },
  },
};

const retry: CommandGroup = {
  summary: 'Requests that a server sends until they work',
  commands: {
    create: {
      summary: 'Has a request sent until it works, and prints the job',
      load: async () => (await import('./retry/create.ts')).createRetry,
    },
    status: {
      summary: 'Shows the status of a retry',
      load: async () => (await import('./retry/status.ts')).showRetry,
    },
    wait: {
      summary: 'Waits until a retry has ended, and shows it',
      load: async () => (await import('./retry/wait.ts')).waitForRetry,
    },
    cancel: {
      summary: 'Cancels a retry; an attempt under way is abandoned',
      load: async () => (await import('./retry/cancel.ts')).cancelRetry,
    },
  },
};

const keys: CommandGroup = {
  summary: 'API keys of organizations',
  commands: {
    create: {
      summary: 'Makes a key for an organization and prints it, once',
      load: async () => (await import('./accounts/keys-create.ts')).createKey,
    },
    list: {
      summary: 'Lists keys with their scopes and when they were last used',
      load: async () => (await import('./accounts/keys-list.ts')).listKeys,
    },
    revoke: {
      summary: 'Ends a key at once and for good',
      load: async () => (await import('./accounts/keys-revoke.ts')).revokeKey,
    },
  },
};

const state: CommandGroup = {
  summary: 'The state of a server',
  commands: {
    copy: {
      summary: 'Moves the state of a stopped server into an empty database that servers share',
      load: async () => (await import('./state/copy.ts')).copyStateCommand,
    },
  },
};

const credits: CommandGroup = {
  summary: 'Credits of organizations',
  commands: {
    grant: {
      summary: 'Gives an organization credits, once or every month',
      load: async () => (await import('./accounts/credits-grant.ts')).grantCredits,
    },
    show: {
      summary: 'Shows what an organization has left',
      load: async () => (await import('./accounts/credits-show.ts')).showCredits,
    },
  },
};

export const PROGRAM: Program = {
  name: 'paygrade',
  summary: 'Sells answers about hiring, one request at a time, over your own catalogue of job postings',
  version: VERSION,
  commands: {
    serve: {
      summary: 'Starts the server; settings come from the environment or from flags',
      load: async () => (await import('./serve.ts')).serve,
    },
    up: {
      summary: 'Watches boards and serves what they list, in one process group',
      load: async () => (await import('./up.ts')).up,
    },
    reload: {
      summary: 'Makes the server of a state folder load its catalogue file again',
      load: async () => (await import('./reload.ts')).reload,
    },
    import: {
      summary: 'Merges files of job boards into the history of a catalogue',
      load: async () => (await import('./import.ts')).importFeeds,
    },
    watch: {
      summary: 'Fetches the boards of a catalogue as often as they change, and keeps its snapshot up to date',
      load: async () => (await import('./watch.ts')).watch,
    },
    history: {
      summary: 'Shows what opened, changed, closed and reopened in a catalogue',
      load: async () => (await import('./history.ts')).history,
    },
    boards,
    companies,
    snapshot,
    callback,
    retry,
    resolve: {
      summary: 'Pays for what is behind an address: title, canonical address, text, links',
      load: async () => (await import('./resolve.ts')).resolveUrl,
    },
    sales: {
      summary: 'Lists what was sold, from a state folder, a database or a running server',
      load: async () => (await import('./sales.ts')).sales,
    },
    keys,
    credits,
    state,
    demo: {
      summary: 'Buys one answer of each kind from a running server, with the official client',
      load: async () => (await import('./demo.ts')).demo,
    },
    load: {
      summary: 'Puts a running server of your own under load: open or closed loop, latency percentiles, errors by code',
      load: async () => (await import('./load.ts')).load,
    },
    fleet: {
      summary: 'Starts gates, jobs services, a database and a proxy on this machine, to try what many machines do',
      load: async () => (await import('./fleet.ts')).fleet,
    },
    doctor: {
      summary: 'Checks everything that a server with these settings needs, and says what to fix',
      load: async () => (await import('./doctor.ts')).doctor,
    },
  },
};
