import type { BlobStore } from '../../spool/blobs.ts';
import type { ChatLimits } from './limits.ts';
import { Answer } from './upload-bearer.ts';

/**
 * What uploads leave free beyond the spool's own reserve: on a disk that runs full, files are
 * refused while there is still room for some hundred thousand messages.
 */
const SPARE_BYTES = 256 * 1024 * 1024;

/** The room that an upload under way has been given. */
export interface Place {
  /** @param kept how many bytes of it stay on the disk */
  leave(kept: number): Promise<void>;
}

/** Gives uploads their room on the disk, before their first byte is written. */
export class UploadRoom {
  readonly #blobs: Pick<BlobStore, 'assertSpace'>;
  /** What may still be written by uploads that were let in. */
  #underWay = 0;

  constructor(blobs: Pick<BlobStore, 'assertSpace'>) {
    this.#blobs = blobs;
  }

  /**
   * @param bytes the most that the upload can take
   * @throws {Answer} 429: files of this network have filled enough for now
   * @throws {SpoolFull} the disk is low
   */
  async take(bytes: number, network: string, limits: ChatLimits): Promise<Place> {
    const limited = await limits.uploadBytes(network, bytes);
    if (limited !== undefined) throw new Answer(429, 'rate_limited', limited.retryAfter);
    this.#underWay += bytes;
    const leave = async (kept: number): Promise<void> => {
      this.#underWay -= bytes;
      await limits.giveBack(network, bytes - kept);
    };
    try {
      await this.#blobs.assertSpace(SPARE_BYTES + this.#underWay);
    } catch (error) {
      await leave(0);
      throw error;
    }
    return { leave };
  }
}
