import { SetUpUnusable } from '../runtime/set-up-trouble.ts';

/**
 * The spool could not make an entry durable now; the sender should try again later
 * (SMTP 451, HTTP 503, chat `busy`). Nothing of what was offered is stored.
 */
export class SpoolUnavailable extends Error {
  override name = 'SpoolUnavailable';
}

/** Not enough disk space to accept; deliveries go on (SMTP 452 4.3.1, HTTP 503, chat `busy`). */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/** The data folder cannot be used: locked by another process, damaged, or of a newer version. */
export class SpoolUnusable extends SetUpUnusable {
  override name = 'SpoolUnusable';
}
