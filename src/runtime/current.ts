/**
 * Something that is replaced as a whole now and then. Read it where it is used, and keep what was
 * read for as long as one piece of work lasts: that ends as it began, whatever comes meanwhile.
 */
export interface Current<T> {
  readonly value: T;
}

/** Where the replacing is done. */
export class Holder<T> implements Current<T> {
  value: T;

  constructor(value: T) {
    this.value = value;
  }
}
