/** A message was not accepted. The message of the error is shown to the user. */
export class Unsent extends Error {
  override name = 'Unsent';
}

/** Nothing listens at the gateway's address. */
export class NoAnswer extends Unsent {
  override name = 'NoAnswer';
  /** The listener. */
  readonly what: string;
  readonly where: URL;

  constructor(what: string, where: URL, options?: ErrorOptions) {
    super(`${what} does not respond at ${where.host}`, options);
    this.what = what;
    this.where = where;
  }
}
