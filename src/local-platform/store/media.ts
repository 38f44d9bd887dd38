import { createHmac, randomUUID } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { type Db, statements } from './database.ts';
import type { MediaRow } from './rows.ts';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import { areEqualSecrets } from '../../runtime/equal-secrets.ts';
import { signatureAt } from '../../runtime/file-kind.ts';
import { LIMITS } from '../open-points.ts';

/** The records of uploaded files. The bytes are in `MediaFolder`, one file per id. */
export function mediaTable(db: Db) {
  const { row, rows, one } = statements(db);
  const byLink = row<[id: string], MediaRow>(`SELECT * FROM media WHERE id = ?`);
  return {
    create: one<[Omit<MediaRow, 'seq'>], MediaRow>(
      `INSERT INTO media (id, shop, type, original_name, permission, size, created_at)
       VALUES (@id, @shop, @type, @original_name, @permission, @size, @created_at) RETURNING *`,
    ),
    byId(shop: string, id: string): MediaRow | undefined {
      const found = byLink(id);
      return found?.shop === shop ? found : undefined;
    },
    /** Of any shop, for download links, which do not name a shop. */
    byLink,
    /** A message's attachments. */
    ofMessage: rows<[messageId: string], MediaRow>(
      `SELECT m.* FROM attachments a JOIN media m ON m.id = a.media_id
       WHERE a.message_id = ? ORDER BY a.position`,
    ),
  };
}

export interface StoredFile {
  readonly id: string;
  readonly size: number;
  /** The type by the file's signature; undefined when it has none. */
  readonly sniffedType: string | undefined;
}

/**
 * The uploaded bytes, one file per media id. A file is written under a temporary name, synced and
 * renamed, so that an id never refers to an incomplete file.
 */
export class MediaFolder {
  readonly #folder: string;
  readonly #temporary: string;
  readonly #signingKey: Buffer;

  constructor(folder: string, signingKey: Buffer) {
    this.#folder = folder;
    this.#temporary = join(folder, 'tmp');
    this.#signingKey = signingKey;
    // Uploads that a crash interrupted were never acknowledged.
    rmSync(this.#temporary, { recursive: true, force: true });
    makeFolder(this.#temporary);
  }

  /** Stores the whole stream. On failure no file is left. */
  async store(content: Readable): Promise<StoredFile> {
    const id = randomUUID();
    const temporary = join(this.#temporary, id);
    try {
      await pipeline(content, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
      const size = await durableFiles.syncPath(temporary);
      const signature = await signatureAt(temporary);
      await durableFiles.rename(temporary, this.path(id));
      return { id, size, sniffedType: signature?.mime };
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /**
   * Removes files without a record: a crash interrupted the upload before it was acknowledged. Must
   * run before the first upload, whose file has no record for a moment.
   */
  async sweep(isRecorded: (id: string) => boolean): Promise<void> {
    for await (const entry of await opendir(this.#folder)) {
      if (entry.isFile() && !isRecorded(entry.name)) await this.remove(entry.name);
    }
  }

  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }

  path(id: string): string {
    return join(this.#folder, id);
  }

  /** The path and query of a download link; a private file's ends with its signature. */
  link(id: string, isPrivate: boolean, nowMs: number): string {
    if (!isPrivate) return `/media-files/${id}`;
    const expires = nowMs + LIMITS.signedUrlLifetimeMs;
    return `/media-files/${id}?expires=${expires}&signature=${this.#sign(id, expires)}`;
  }

  isSigned(id: string, expires: string, signature: string, nowMs: number): boolean {
    const at = /^\d{1,15}$/.test(expires) ? Number(expires) : 0;
    return areEqualSecrets(this.#sign(id, at), signature) && nowMs < at;
  }

  /** The secret part of the public link to a reply's file. */
  replyKey(id: string): string {
    return this.#sign(id, 'reply');
  }

  isReplyKey(id: string, key: string): boolean {
    return areEqualSecrets(this.replyKey(id), key);
  }

  #sign(id: string, what: number | 'reply'): string {
    return createHmac('sha256', this.#signingKey).update(`${id}:${what}`).digest('base64url');
  }
}
