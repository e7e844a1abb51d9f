/** The services of the pages. */
import type { Clock } from '../../base/clock.ts';
import type { CatalogueHolder } from '../../catalogue/holder.ts';
import type { RemoteCatalogue } from '../../catalogue/remote-catalogue.ts';
import type { SurfaceName } from '../../config/surfaces.ts';
import type { Operation } from '../../http/operation.ts';
import type { StaticFiles } from '../../http/static-files.ts';
import type { Network } from '../../payment/protocol/network.ts';
import type { SurfaceView } from '../module.ts';

export interface PageServices {
  readonly catalogue: Pick<CatalogueHolder, 'current'>;
  /** Set on a gate. */
  readonly remoteCatalogue: Pick<RemoteCatalogue, 'canAsk'> | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly files: StaticFiles;
  /** Every published operation; the declarations show which are paid and which are free. */
  operations(): readonly Operation[];
  /** The surfaces beside the base. */
  otherSurfaces(): readonly SurfaceView[];
  /** Whether this server has a product; pages mention only products that it has. */
  has(product: SurfaceName): boolean;
  readonly facts: PageFacts;
}

/** The published operations of every surface. */
export const everyOperation = ({ operations, otherSurfaces }: PageServices): readonly Operation[] => [
  ...operations(),
  ...otherSurfaces().flatMap((surface) => surface.operations),
];

/** The facts of the configuration that pages show. */
export interface PageFacts {
  readonly version: string;
  /** Public address of the API, no trailing slash. */
  readonly baseUrl: string;
  /** Public address of the webhook host, no trailing slash. */
  readonly hookBaseUrl: string;
  /** Where payments settle. */
  readonly network: Network;
  /** True where payments move play money and nothing reaches a chain. */
  readonly isPlay: boolean;
  /** Recipient of the payments. */
  readonly payTo: string;
}
