import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { contentsOf, damageOf } from '../../spool/sqlite/database-copy.ts';
import { DATABASES } from './files.ts';
import { type BackupNote, NOTE } from './make-backup.ts';

const noteSchema = z.object({ entries: z.number(), gone: z.array(z.string()) });

/** What is wrong with a backup, a line each; empty when a gateway can be started on it. */
export async function checkBackup(folder: string): Promise<string[]> {
  const spool = join(folder, DATABASES[0]);
  if (!existsSync(spool)) return [`${folder} is no backup: there is no ${DATABASES[0]} in it`];
  const damaged = DATABASES.flatMap((file) => {
    if (!existsSync(join(folder, file))) return [];
    const damage = damageOf(join(folder, file));
    return damage === undefined ? [] : [`${file} is damaged: ${damage}`];
  });
  if (damaged.length > 0) return damaged;

  const note = await readNote(folder);
  if (note === undefined) return [`${NOTE} is missing or cannot be read`];
  const { entries, blobs } = contentsOf(spool);
  const problems =
    note.entries === entries ? [] : [`${entries} entries instead of ${note.entries}`];
  const gone = new Set(note.gone);
  for (const { blob, size } of blobs) {
    const path = join('blobs', blob);
    if (gone.has(path)) continue;
    const found = await sizeOf(join(folder, path));
    if (found === undefined) problems.push(`${path} is missing`);
    else if (found !== size) problems.push(`${path} has ${found} bytes instead of ${size}`);
  }
  return problems;
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch {
    return undefined;
  }
}

async function readNote(folder: string): Promise<Pick<BackupNote, 'entries' | 'gone'> | undefined> {
  try {
    const note = noteSchema.safeParse(JSON.parse(await readFile(join(folder, NOTE), 'utf8')));
    return note.data;
  } catch {
    return undefined;
  }
}
