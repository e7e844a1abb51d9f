/**
 * `BOARD_ENDPOINTS`, `shape=origin,...`: origins that replace the shapes' own, for mirrors and tests. A shape whose
 * boards have hosts of their own (Recruitee, Teamtailor, Workday, pages) keeps the host as the first part of the path:
 * `recruitee=http://127.0.0.1:9000` asks `http://127.0.0.1:9000/acme.recruitee.com/api/offers/`.
 */
import { commaList } from '../../base/comma-list.ts';
import { BOARD_SHAPES, type BoardShape, isBoardShape } from './board.ts';

/** Origins that replace the shapes' own, without a trailing slash. */
export type BoardOrigins = ReadonlyMap<BoardShape, string>;

/** Reads the setting. `reason` completes "BOARD_ENDPOINTS must be ...". */
export function parseBoardOrigins(
  text: string,
): { readonly ok: true; readonly origins: BoardOrigins } | { readonly ok: false; readonly reason: string } {
  const origins = new Map<BoardShape, string>();
  for (const entry of commaList(text)) {
    const equals = entry.indexOf('=');
    const shape = entry.slice(0, Math.max(equals, 0)).trim();
    const origin = entry.slice(equals + 1).trim();
    if (!isBoardShape(shape)) {
      return { ok: false, reason: `shape=origin pairs separated by commas, of the shapes ${BOARD_SHAPES.join(', ')}` };
    }
    if (!/^https?:\/\//i.test(origin) || URL.parse(origin)?.origin !== origin.replace(/\/$/, '')) {
      return { ok: false, reason: `shape=origin pairs; the origin of ${shape} must be like https://mirror.example` };
    }
    if (origins.has(shape)) return { ok: false, reason: `shape=origin pairs, each shape once; ${shape} stands twice` };
    origins.set(shape, new URL(origin).origin);
  }
  return { ok: true, origins };
}

/**
 * The address that is requested instead of `address`.
 * @param hasOwnHosts the shape's boards have hosts of their own, so a replaced origin is followed by the host
 */
export function replacedAddress(
  address: string,
  shape: BoardShape,
  hasOwnHosts: boolean,
  origins: BoardOrigins,
): string {
  const origin = origins.get(shape);
  if (origin === undefined) return address;
  const { host, pathname, search } = new URL(address);
  return `${origin}${hasOwnHosts ? `/${host}` : ''}${pathname}${search}`;
}

/** Undoes `replacedAddress` for a shape whose boards have separate hosts; returns other addresses unchanged. */
export function addressBehind(url: string, shape: BoardShape, origins: BoardOrigins): string {
  const origin = origins.get(shape);
  if (origin === undefined || !url.startsWith(`${origin}/`)) return url;
  return `https://${url.slice(origin.length + 1)}`;
}
