/** A message was not taken; what it says is for people. */
export class Unsent extends Error {
  override name = 'Unsent';
}

/** Nobody listens where the gateway should. */
export class NoAnswer extends Unsent {
  override name = 'NoAnswer';
  /** Which door. */
  readonly what: string;
  readonly where: URL;

  constructor(what: string, where: URL, options?: ErrorOptions) {
    super(`${what} does not answer at ${where.host}`, options);
    this.what = what;
    this.where = where;
  }
}
