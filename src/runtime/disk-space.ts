import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The space of the disk that a folder is on. @throws errors of statfs: ENOENT */
export const diskSpace = async (folder: string): Promise<DiskSpace | undefined> =>
  spaceIn(await statfs(folder));

/** Infinite where a file system does not say: it is written to until it is full. @throws errors of statfs */
export const freeBytes = async (folder: string): Promise<number> =>
  (await diskSpace(folder))?.freeBytes ?? Infinity;

/**
 * The space that statfs reports to processes without privileges; undefined where a file system does not say, as
 * some network and FUSE file systems do: they report zeros, which would read as a full disk.
 */
export function spaceIn({ bavail, bsize, blocks }: StatsFs): DiskSpace | undefined {
  return blocks === 0 ? undefined : { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}
