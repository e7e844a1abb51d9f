/** Files that the server sends unchanged (a port): style sheets, scripts and pictures of the pages. */
export interface StaticFiles {
  /** Digest of all files, hex. It is part of their addresses, so a browser never requests an unchanged file twice. */
  readonly digest: string;
  find(name: string): StaticFile | undefined;
}

export interface StaticFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Digest of the bytes, hex. */
  readonly digest: string;
  /** Compresses at the first call and memoizes the result. */
  gzipped(): Promise<Uint8Array>;
}
