import type { MediaPermission } from '../../platform-api/schemas.ts';
import type { Db } from './database.ts';
import type { MediaRow } from './rows.ts';

export interface NewMedia {
  readonly id: string;
  readonly shop: string;
  readonly type: string;
  readonly name: string;
  readonly permission: MediaPermission;
  readonly size: number;
  readonly now: string;
}

/** What is known about uploaded files; the bytes are in a folder, one file per id. */
export class MediaTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      insert: db.prepare<unknown[], MediaRow>(
        `INSERT INTO media (id, shop, type, original_name, permission, size, created_at)
         VALUES (@id, @shop, @type, @name, @permission, @size, @now) RETURNING *`,
      ),
      anyShop: db.prepare<[string], MediaRow>(`SELECT * FROM media WHERE id = ?`),
    };
  }

  create(media: NewMedia): MediaRow {
    const row = this.#sql.insert.get(media);
    if (row === undefined) throw new Error('a media record that was not stored');
    return row;
  }

  byId(shop: string, id: string): MediaRow | undefined {
    const row = this.#sql.anyShop.get(id);
    return row?.shop === shop ? row : undefined;
  }

  /** For a download link, which is signed and names no shop. */
  byLink(id: string): MediaRow | undefined {
    return this.#sql.anyShop.get(id);
  }
}
