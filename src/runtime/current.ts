/**
 * A value that is replaced as a whole from time to time. Read it where it is used, and keep what
 * was read for the duration of one unit of work, so that the work ends with the value that it began
 * with.
 */
export interface Current<T> {
  readonly value: T;
}

/** The writable side of `Current`. */
export class Holder<T> implements Current<T> {
  value: T;

  constructor(value: T) {
    this.value = value;
  }
}
