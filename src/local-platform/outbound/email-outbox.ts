import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import { compose } from './email-message.ts';
import { diskFailure } from './disk-failure.ts';
import type { Outbound, OutgoingReply, Sent } from './outbound.ts';

/** Leaves each email as an .eml file in a folder, under the reply's id. DELIVERED is what is on disk. */
export class EmailOutbox implements Outbound {
  readonly inOrder = false;
  readonly canRepeat = true;
  readonly #folder: string;

  constructor(folder: string) {
    makeFolder(folder);
    this.#folder = folder;
  }

  async send(reply: OutgoingReply): Promise<Sent> {
    const path = join(this.#folder, `${reply.id}.eml`);
    // Whoever watches the folder never sees half a file.
    const temporary = `${path}.tmp`;
    const message = await compose(reply);
    try {
      await writeFile(temporary, message, { mode: 0o600, flush: true });
      await durableFiles.rename(temporary, path);
    } catch (error) {
      throw diskFailure(error);
    }
    return { outboxPath: path };
  }
}
