import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { durableFiles } from '../runtime/durable-files.ts';
import { codeOf } from '../runtime/error-code.ts';
import { SpoolUnusable } from './errors.ts';

const moveSchema = z.object({
  /** The same at both places. */
  id: z.string(),
  /** `filling`: this is the new place, and not complete. `emptying`: the old one. `moved`: the old one, at the end. */
  state: z.enum(['filling', 'emptying', 'moved']),
  /** The other place, without a password. */
  other: z.string(),
  /** When it began or ended, in milliseconds since the epoch. */
  at: z.number(),
});

/** A store that is moved to another place, or was (`sluice migrate`). */
export type Move = Readonly<z.output<typeof moveSchema>>;

/**
 * The error for whoever opens a store that is not, or no longer, the one to use.
 * @param undo how it becomes a usual store again
 */
export function movedAway(place: string, { state, other, at }: Move, undo: string): SpoolUnusable {
  if (state === 'filling') {
    return new SpoolUnusable(
      `${place} is being filled from ${other} and is not complete. Run sluice migrate again, with the ` +
        'configuration and the arguments of the first time; it goes on where it stopped.',
    );
  }
  const happened =
    state === 'moved'
      ? `was moved to ${other} on ${new Date(at).toISOString().slice(0, 10)}. Name that in the configuration`
      : `is being moved to ${other}. Run sluice migrate again; it goes on where it stopped`;
  return new SpoolUnusable(
    `${place} ${happened}. To use it here as it was before, without what has arrived there since: ${undo}`,
  );
}

const FILE = 'moved.json';

/** @throws {SpoolUnusable} the file cannot be read */
export function folderMove(dir: string): Move | undefined {
  try {
    return moveSchema.parse(JSON.parse(readFileSync(join(dir, FILE), 'utf8')));
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw new SpoolUnusable(`${join(dir, FILE)} cannot be read`, { cause });
  }
}

/** Undefined: the folder is a usual one again. */
export async function setFolderMove(dir: string, move: Move | undefined): Promise<void> {
  if (move !== undefined) return durableFiles.replace(join(dir, FILE), `${JSON.stringify(move)}\n`);
  rmSync(join(dir, FILE), { force: true });
  return durableFiles.syncFolder(dir);
}

/** @throws {SpoolUnusable} the store in this folder is moved */
export function assertNotMoved(dir: string): void {
  const move = folderMove(dir);
  if (move !== undefined) throw movedAway(dir, move, `delete ${join(dir, FILE)}`);
}
