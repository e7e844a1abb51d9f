/** Files that are served as they are (a port): style sheets, scripts and pictures of the pages. */
export interface StaticFiles {
  /** Changes whenever any file does: part of their addresses, so that what was fetched once is never asked for again. */
  readonly digest: string;
  find(name: string): StaticFile | undefined;
}

export interface StaticFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, hex. */
  readonly digest: string;
  /** Made when it is first asked for. */
  gzipped(): Promise<Uint8Array>;
}
