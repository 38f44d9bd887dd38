import { Readable } from 'node:stream';
import { DESK_FILES_MAX_BYTES, type DeskFile, DeskRefused } from '../../domain/desk.ts';
import type { MediaFolder } from '../store/media.ts';
import type { Store } from '../store/store.ts';

/** How long an uploaded file waits for its message. */
const UNSENT_FILE_MS = 24 * 60 * 60 * 1000;
/** Of all files that wait, so that nobody at the desk can fill the disk of the gateway. */
const UNSENT_FILES_MAX_BYTES = 512 * 1024 * 1024;

interface DeskFilesParts {
  readonly store: Store;
  readonly media: MediaFolder;
  readonly now: () => number;
}

export interface UploadedFile {
  readonly name: string;
  readonly type: string;
  readonly content: Readable;
}

/** The files of people's messages: uploaded while a message is written, and sent with it. */
export class DeskFiles {
  readonly #parts: DeskFilesParts;
  #uploads = 0;

  constructor(parts: DeskFilesParts) {
    this.#parts = parts;
  }

  /**
   * Stores a file for a message, which has to be sent within a day.
   * @throws {DeskRefused} it is too large, or there are too many
   */
  async upload(shopId: string, { name, type, content }: UploadedFile): Promise<DeskFile> {
    const { store, media, now } = this.#parts;
    await this.removeUnsent();
    // Of those that are on their way, too.
    const most = store.desk.unsentBytes() + (this.#uploads + 1) * DESK_FILES_MAX_BYTES;
    if (most > UNSENT_FILES_MAX_BYTES) {
      throw new DeskRefused('invalid', 'Too many files wait for their message: try again tomorrow');
    }
    this.#uploads += 1;
    try {
      const file = await media.store(Readable.from(limited(content), { objectMode: false }));
      const at = new Date(now()).toISOString();
      const row = await store.write(() => {
        store.desk.addUnsentFile(file.id, at);
        return store.media.create({
          id: file.id,
          shop: shopId.toLowerCase(),
          type: file.sniffedType ?? type,
          original_name: name,
          permission: 'private',
          size: file.size,
          created_at: at,
        });
      });
      return { id: row.id, name, type: row.type, bytes: row.size };
    } finally {
      this.#uploads -= 1;
    }
  }

  /** Removes what was uploaded and never sent: an erasure does not find a file without a message. */
  async removeUnsent(): Promise<void> {
    const { store, media, now } = this.#parts;
    const until = new Date(now() - UNSENT_FILE_MS).toISOString();
    const ids = await store.write(() => store.desk.removeUnsentFiles(until));
    for (const id of ids) await media.remove(id);
  }

  /** A file of the shop, with its path on the disk. */
  file(shopId: string, id: string): (DeskFile & { readonly path: string }) | undefined {
    const { store, media } = this.#parts;
    const row = store.media.byId(shopId.toLowerCase(), id.toLowerCase());
    if (row === undefined) return undefined;
    const { original_name: name, type, size } = row;
    return { id: row.id, name, type, bytes: size, path: media.path(row.id) };
  }
}

/** @throws {DeskRefused} beyond the limit */
async function* limited(content: Readable): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > DESK_FILES_MAX_BYTES) {
      throw new DeskRefused('invalid', 'The file is too large: at most 15 MB');
    }
    yield chunk;
  }
}
