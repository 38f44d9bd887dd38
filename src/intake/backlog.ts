import type { RawForm } from '../spool/entry.ts';
import type { ShopId } from '../domain/ids.ts';

/**
 * Bytes of waiting raw forms per shop: the store's last periodic count plus what was accepted
 * since. A shop whose platform is down for days must leave disk space for the others.
 */
export class Backlog {
  #counted: ReadonlyMap<ShopId, number> = new Map();
  #since = new Map<ShopId, number>();

  counted(bytes: ReadonlyMap<ShopId, number>): void {
    this.#counted = bytes;
    this.#since = new Map();
  }

  accepted(shopId: ShopId, raw: RawForm): void {
    const bytes = raw.kind === 'file' ? raw.size : raw.bytes.byteLength;
    this.#since.set(shopId, (this.#since.get(shopId) ?? 0) + bytes);
  }

  bytesOf(shopId: ShopId): number {
    return (this.#counted.get(shopId) ?? 0) + (this.#since.get(shopId) ?? 0);
  }
}
