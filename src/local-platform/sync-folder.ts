import { open } from 'node:fs/promises';

/** Resolves once the names in a folder are on disk: a file that is synced is lost without its name. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
