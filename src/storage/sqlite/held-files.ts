/**
 * Files that must stay where the server opened them. An operator may move, delete or replace one while the server runs: the
 * whole state folder, or its `lock` because a start says that the folder is in use. What the server writes then goes where
 * the next start does not look for it, and another process can lock the folder too.
 */
import { statSync } from 'node:fs';

/** Plain data, because it crosses threads. */
export interface HeldFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** @throws Error of node:fs */
export function heldFile(path: string): HeldFile {
  const { dev, ino } = statSync(path);
  return { path, device: dev, inode: ino };
}

function isThere({ path, device, inode }: HeldFile): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && found.dev === device && found.ino === inode;
  } catch {
    return true; // it cannot be looked at, which is no sign that it has gone
  }
}

/** Which of the files is no longer where it was, in words; undefined = all are. */
export function whatWasMoved(files: readonly HeldFile[]): string | undefined {
  const moved = files.find((file) => !isThere(file));
  return moved && `${moved.path} was moved, deleted or replaced while the server ran`;
}
