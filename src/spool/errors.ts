import { SetUpUnusable } from '../runtime/set-up-trouble.ts';

/**
 * The spool could not store an entry durably; the sender should try again later (SMTP 451, HTTP
 * 503, chat `busy`). Nothing was stored.
 */
export class SpoolUnavailable extends Error {
  override name = 'SpoolUnavailable';
}

/** Not enough disk space to accept; deliveries continue (SMTP 452 4.3.1, HTTP 503, chat `busy`). */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/** The data folder cannot be used: locked by another process, damaged, or of a newer version. */
export class SpoolUnusable extends SetUpUnusable {
  override name = 'SpoolUnusable';
}
