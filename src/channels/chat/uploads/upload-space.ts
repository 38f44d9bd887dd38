import type { Logger } from '../../../observability/logger.ts';
import type { BlobStore } from '../../../spool/blobs.ts';
import { SpoolFull } from '../../../spool/errors.ts';
import type { ChatLimits } from '../limits.ts';
import { Answer } from './bearer.ts';

/**
 * The space that uploads leave free beyond the spool's reserve: on a disk that fills up, files are
 * refused while there is still room for several hundred thousand messages.
 */
const SPARE_BYTES = 256 * 1024 * 1024;

/** The space reserved for an upload in progress. */
export interface ReservedSpace {
  /** This many more bytes were written; the disk's free space no longer includes them. */
  readonly wrote: (bytes: number) => void;
  /** @param kept the number of bytes that remain on the disk */
  leave(kept: number): Promise<void>;
}

/** Reserves disk space for uploads before their first byte is written. */
export class UploadSpace {
  readonly #blobs: Pick<BlobStore, 'assertSpace'>;
  readonly #logger: Pick<Logger, 'warn'>;
  /** Bytes that admitted uploads may still write. */
  #underWay = 0;
  #isLow = false;

  constructor(blobs: Pick<BlobStore, 'assertSpace'>, logger: Pick<Logger, 'warn'>) {
    this.#blobs = blobs;
    this.#logger = logger;
  }

  /**
   * @param bytes the maximum size of the upload
   * @throws {Answer} 429: this network has uploaded too much for now
   * @throws {SpoolFull} the disk is low
   */
  async take(bytes: number, network: string, limits: ChatLimits): Promise<ReservedSpace> {
    const limited = await limits.uploadBytes(network, bytes);
    if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
    const takenAt = Date.now();
    let toCome = bytes;
    this.#underWay += bytes;
    const wrote = (count: number): void => {
      const come = Math.min(count, toCome);
      toCome -= come;
      this.#underWay -= come;
    };
    const leave = async (kept: number): Promise<void> => {
      wrote(toCome);
      await limits.giveBack(network, bytes - kept, takenAt);
    };
    try {
      await this.#assertSpace(SPARE_BYTES + this.#underWay);
    } catch (error) {
      await leave(0);
      throw error;
    }
    return { wrote, leave };
  }

  /** If the disk is too small for files, every upload is refused as "busy". */
  async #assertSpace(bytes: number): Promise<void> {
    try {
      await this.#blobs.assertSpace(bytes);
      this.#isLow = false;
    } catch (error) {
      if (error instanceof SpoolFull && !this.#isLow) {
        this.#isLow = true;
        this.#logger.warn('chat.uploads_no_room', { needed: bytes });
      }
      throw error;
    }
  }
}
