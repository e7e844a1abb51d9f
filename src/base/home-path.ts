/** Whether a path begins with `~`, which only a shell replaces: left as it is, it names a folder "~" of the current one. */
export const isHomePath = (path: string): boolean => /^~(\/|$)/.test(path);
