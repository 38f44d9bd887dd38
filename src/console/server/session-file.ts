import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const keptSchema = z.array(
  z.object({
    /** SHA-256 of the token in hex: who reads the file cannot sign in with it. */
    id: z.string().regex(/^[0-9a-f]{64}$/),
    operator: z.string().min(1).max(64),
    endsAt: z.number(),
    /** HMAC of the operator's configured password under the token. */
    seal: z.string().regex(/^[0-9a-f]{64}$/),
  }),
);
export type KeptSession = Readonly<z.output<typeof keptSchema>[number]>;

/** What was written last; nothing when there is no file, or one that cannot be read as such. */
export async function readSessions(file: string): Promise<readonly KeptSession[]> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Everybody signs in once more, which is all that this file can cost.
    return [];
  }
}
