/** Opens the modules of one surface and mounts their operations. */
import type { MadeResponse } from '../http/response-form.ts';
import type { ModuleContext, SharedConfig, SurfaceView } from '../modules/module.ts';
import { SERVICE_SUMMARY, surfaceOperations } from '../modules/service/module.ts';
import type { SurfaceDefinition } from './modules.ts';
import type { SurfaceMount } from './mounts.ts';
import type { Server } from './server.ts';
import { Surface, type SurfaceParts } from './surface.ts';

export type SharedContext = Omit<ModuleContext, 'surface'> & { readonly config: SharedConfig };

/** Opens the modules of a surface that is off, for the work that its customers have bought; none of its operations is served. */
export async function openWork(
  { modules, path }: SurfaceDefinition,
  shared: SharedContext,
  server: Server,
): Promise<void> {
  const mount = { labels: {}, baseUrl: `${shared.config.baseUrl}${path}` };
  const view = (): SurfaceView => {
    throw new Error('a surface that is off has no documents');
  };
  for (const module of modules) server.add(await module.open({ ...shared, surface: { mount, view } }));
}

/** @throws Error when an operation cannot be served as declared; passes on every error of a module's `open` */
export async function openSurface<R extends MadeResponse>(
  { definition, mount }: SurfaceMount,
  shared: SharedContext,
  parts: SurfaceParts<R>,
  server: Server,
): Promise<Surface<R>> {
  const { name, title, description, path, modules, isUndocumented = false } = definition;
  const tags = Object.fromEntries(
    modules.flatMap(({ tag, summary }) => (summary === undefined ? [] : [[tag, summary]])),
  );
  let view: SurfaceView | undefined;
  const viewOf = (): SurfaceView => {
    if (view === undefined) throw new Error('the operations of a surface are not known while its modules open');
    return view;
  };
  const own = surfaceOperations(viewOf, server, isUndocumented);
  const opened = [];
  for (const module of modules) {
    const open = await module.open({ ...shared, surface: { mount, view: viewOf } });
    server.add(open);
    opened.push({ ...open, isPublished: module.summary !== undefined });
  }
  const published = opened.filter(({ isPublished }) => isPublished).flatMap(({ operations }) => operations);
  view = {
    title,
    description,
    path,
    mount,
    guide: modules.flatMap(({ guide = [] }) => guide),
    tags: { ...tags, service: SERVICE_SUMMARY },
    operations: [...published, ...own],
  };
  if (path !== '' && !isUndocumented) server.publish(view);
  const all = [...opened.flatMap(({ operations }) => operations), ...own];
  const surface = new Surface(name, mount, all, parts);
  server.measure(surface.meters);
  return surface;
}
