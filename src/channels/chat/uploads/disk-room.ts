import type { Logger } from '../../../observability/logger.ts';
import type { BlobStore } from '../../../spool/blobs.ts';
import { SpoolFull } from '../../../spool/errors.ts';
import type { ChatLimits } from '../limits.ts';
import { Answer } from './bearer.ts';

/**
 * What uploads leave free beyond the spool's own reserve: on a disk that runs full, files are
 * refused while there is still room for some hundred thousand messages.
 */
const SPARE_BYTES = 256 * 1024 * 1024;

/** The room that an upload under way has been given. */
export interface TakenRoom {
  /** So many more bytes of it have come: what is on the disk is not free any more anyway. */
  readonly wrote: (bytes: number) => void;
  /** @param kept how many bytes of it stay on the disk */
  leave(kept: number): Promise<void>;
}

/** Gives uploads their room on the disk, before their first byte is written. */
export class UploadRoom {
  readonly #blobs: Pick<BlobStore, 'assertSpace'>;
  readonly #logger: Pick<Logger, 'warn'>;
  /** What may still be written by uploads that were let in. */
  #underWay = 0;
  #isLow = false;

  constructor(blobs: Pick<BlobStore, 'assertSpace'>, logger: Pick<Logger, 'warn'>) {
    this.#blobs = blobs;
    this.#logger = logger;
  }

  /**
   * @param bytes the most that the upload can take
   * @throws {Answer} 429: files of this network have filled enough for now
   * @throws {SpoolFull} the disk is low
   */
  async take(bytes: number, network: string, limits: ChatLimits): Promise<TakenRoom> {
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

  /** A disk that is too small for files refuses every one of them, and the visitor hears "busy". */
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
