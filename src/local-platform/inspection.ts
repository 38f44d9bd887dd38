import type { MediaFolder } from './media-folder.ts';
import type { EventRow } from './store/event-table.ts';
import type { MessageRow } from './store/rows.ts';
import type { Store } from './store/store.ts';

export interface StoredAttachment {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly permission: string;
  /** The file with its bytes. */
  readonly path: string;
}

/**
 * What the platform stored and the API does not tell: attachments, email headers, events, and all
 * messages at once. For tests, benchmarks and the console.
 */
export class Inspection {
  readonly #store: Store;
  readonly #media: MediaFolder;

  constructor(store: Store, media: MediaFolder) {
    this.#store = store;
    this.#media = media;
  }

  /** Every message of a shop, oldest first. */
  messages(shopId: string): readonly MessageRow[] {
    return this.#store.messages.all(shopId.toLowerCase());
  }

  attachments(messageId: string): StoredAttachment[] {
    return this.#store.messages.attachments(messageId).map((row) => ({
      id: row.id,
      name: row.original_name,
      type: row.type,
      size: row.size,
      permission: row.permission,
      path: this.#media.path(row.id),
    }));
  }

  /** Timeline entries and metrics of a shop, oldest first. */
  events(shopId: string): readonly EventRow[] {
    return this.#store.events.byShop(shopId.toLowerCase());
  }
}
