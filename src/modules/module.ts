/**
 * The interface of modules. A module is one folder whose `module.ts` binds its routes to its services once and declares its
 * readiness, metrics, background work and settings. Modules never import each other; they share the parts in the context.
 */
import type { Shedding } from '../access/overload.ts';
import type { PaidServices } from '../access/x402.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Clock } from '../base/clock.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { Random } from '../base/random.ts';
import type { RateLimits } from '../base/rate-limits.ts';
import type { Timers } from '../base/timers.ts';
import type { Callbacks } from '../callback/callbacks.ts';
import type { CatalogueHolder } from '../catalogue/holder.ts';
import type { RemoteCatalogue } from '../catalogue/remote-catalogue.ts';
import type { WatchedBoards } from '../catalogue/watched-boards.ts';
import type { ENGINE_SETTINGS } from '../config/engine-settings.ts';
import type { SettingsTable, ValuesOf } from '../config/setting.ts';
import type { CATALOGUE_SETTINGS, PAYMENT_SETTINGS, SERVER_SETTINGS, STATE_SETTINGS } from '../config/settings.ts';
import type { Mount } from '../http/access.ts';
import type { BodyReader } from '../http/body.ts';
import type { Operation } from '../http/operation.ts';
import type { Route } from '../http/route.ts';
import type { StaticFiles } from '../http/static-files.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Books } from '../payment/books.ts';
import type { ReservationKey } from '../payment/protocol/order.ts';
import type { ReservationStatus } from '../payment/reservations.ts';
import type { ResolveStore } from '../resolve/resolve-store.ts';
import type { Extractor } from '../resolve/work.ts';
import type { RetryStore } from '../retry/store.ts';

/** A part of the running server with readiness, metrics and a lifecycle. */
export interface Component {
  /** Readiness of its parts, by name; the server is ready when all are. A module lists the names. */
  readonly readiness?: () => Readonly<Record<string, boolean>>;
  /** Writes its families to the page of metrics. */
  readonly metrics?: (page: Exposition) => void;
  /** Begins background work; called once, when every component is open. */
  readonly start?: () => void;
  /** Begins shutdown: answers every request that would keep a listener open. */
  readonly drain?: () => void;
  /** Releases every resource, after the last request. Never rejects. */
  readonly close?: () => MaybePromise<void>;
}

/** The settings that every module sees; addresses are resolved. */
export type SharedConfig = ValuesOf<typeof SERVER_SETTINGS> &
  ValuesOf<typeof CATALOGUE_SETTINGS> &
  ValuesOf<typeof ENGINE_SETTINGS> &
  ValuesOf<typeof STATE_SETTINGS> &
  ValuesOf<typeof PAYMENT_SETTINGS>;

/** A surface as documents and pages see it. */
export interface SurfaceView {
  readonly title: string;
  readonly description: string;
  /** Path below the base address at which the surface always answers; empty for the base. */
  readonly path: '' | `/${string}`;
  readonly mount: Mount;
  /** The published operations; pages for browsers are not among them. */
  readonly operations: readonly Operation[];
  /** What a client must know about all operations together: the paragraphs of its modules, Markdown. */
  readonly guide: readonly string[];
  /** Description of each tag, in the order of the sections. */
  readonly tags: Readonly<Record<string, string>>;
}

/** The whole server, for modules that describe it. */
export interface ServerView {
  readonly version: string;
  /** Version of the contract, independent of the release (callback.md "Versioning"). */
  readonly apiVersion: string;
  uptimeMs(): number;
  /** The names that readiness reports, on every surface together. */
  readonly componentNames: readonly string[];
  /** Readiness of all components, by name. */
  readiness(): Readonly<Record<string, boolean>>;
  /** Whether the process is about to end and wants no new work. */
  isLeaving(): boolean;
  /** All metrics, Prometheus text. */
  metricsText(): string;
  /** The surfaces beside the base that have a contract. Complete when every surface is open. */
  otherSurfaces(): readonly SurfaceView[];
}

/** The parts that modules share. */
export interface ModuleContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  /** Reads request bodies, within the budget of all of them. */
  readonly bodies: BodyReader;
  readonly catalogue: CatalogueHolder;
  /** The jobs services that this process asks in place of a local catalogue; undefined = it is not a gate. */
  readonly remoteCatalogue: RemoteCatalogue | undefined;
  /** The boards from which the watch keeps the catalogue up to date; null without `CATALOGUE`. */
  readonly watchedBoards: WatchedBoards | null;
  readonly callbacks: Callbacks;
  /** 32 secret bytes, the same after a restart. A module derives a key of its own from it. */
  readonly stateKey: Uint8Array;
  readonly accounts: Accounts;
  readonly resolves: ResolveStore;
  /** Reads fetched documents off the main thread. */
  readonly extractor: Extractor;
  readonly rateLimits: RateLimits;
  /** Services of paid operations. */
  readonly paid: PaidServices['paid'];
  readonly books: Books;
  readonly retryStore: RetryStore;
  /** Sends requests to addresses that customers chose. */
  readonly outbound: Outbound;
  /** The server's overload, and counts of what it has shed. */
  readonly shedding: Shedding;
  /** The status of an authorization; undefined for an unknown one. */
  paymentStatusOf(key: ReservationKey): MaybePromise<ReservationStatus | undefined>;
  /** Style sheets, scripts and pictures for browsers. */
  readonly pageFiles: StaticFiles;
  /** Public address of the webhook host, no trailing slash. */
  readonly hookBaseUrl: string;
  readonly server: ServerView;
  /** Receives a failure in the background, where no request waits for it; `source` names the part. */
  onFailure(failure: unknown, source: string): void;
  /** The surface of this module. `view` throws until every module of the surface is open. */
  readonly surface: { readonly mount: Mount; view(): SurfaceView };
}

export interface OpenModule extends Component {
  readonly operations: readonly Operation[];
}

export interface Module<S extends SettingsTable = SettingsTable> {
  /** Name of its section in documents, and the section's description; a module without a summary publishes nothing. */
  readonly tag: string;
  readonly summary?: string;
  /** What a client must know about all its operations together, for documents: paragraphs of Markdown. */
  readonly guide?: readonly string[];
  readonly settings: S;
  /** Paths of the operator or of gates: pages of other origins may call nothing at or below them, whatever `CORS_ORIGIN` permits. */
  readonly operatorPaths?: readonly `/${string}`[];
  /** Names that its readiness reports. */
  readonly componentNames?: readonly string[];
  /** Its declarations, for documents and tests. */
  readonly routes: readonly Route[];
  open(context: ModuleContext & { readonly config: SharedConfig & ValuesOf<S> }): MaybePromise<OpenModule>;
}

/** Declares a module and infers the types of its settings. */
export const defineModule = <const S extends SettingsTable>(module: Module<S>): Module<S> => module;
