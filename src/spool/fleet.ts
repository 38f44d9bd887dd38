import type { DatabaseStatus, InstanceReport, InstanceStatus } from '../observability/status.ts';

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
}
