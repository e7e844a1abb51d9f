/** The metrics of the whole catalogue (siblings §4, `GET /v1/metrics/*` and `/v1/public/overview`). */
import type { Catalogue } from '../catalogue.ts';
import type { Overview } from './listing-answers.ts';

/** Counted once and kept with the catalogue. */
export const catalogueOverview = (catalogue: Catalogue): Overview => catalogue.listing.overview;
