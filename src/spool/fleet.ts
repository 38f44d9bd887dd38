import type { BlobName, EntryId } from '../domain/ids.ts';
import type { DatabaseStatus, InstanceReport, InstanceStatus } from '../observability/status.ts';

/** A large message or a file, as the row that names it has it. */
export interface NamedBlob {
  readonly blob: BlobName;
  /** Undefined for a file that no message has used yet. */
  readonly entry?: EntryId;
  readonly size: number;
  /** CRC-32. */
  readonly checksum?: number;
}

/** What gateways with a common store know of one another, and of what they share. */
export interface Fleet {
  /** Reports this gateway; resolves with all that were seen in the last day, by host. */
  report(own: InstanceReport): Promise<readonly InstanceStatus[]>;
  /** At its stop; other gateways then no longer see this one. */
  leave(): Promise<void>;
  /** @throws {SpoolUnavailable} it cannot be reached */
  inspectDatabase(): Promise<DatabaseStatus>;
  /** @throws {SpoolUnavailable} large messages can be neither stored nor read */
  checkBlobs(): Promise<void>;
  countBlobs(): Promise<number>;
  /** Some of what rows name, in order of the blobs' names; none after the last one. */
  blobsAfter(blob: BlobName | undefined): Promise<readonly NamedBlob[]>;
}
