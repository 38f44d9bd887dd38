import { inspect } from 'node:util';

/**
 * A key, token or password. However it is printed (template, JSON, inspect, an error's properties),
 * it shows as `[secret]`; code that needs the value calls `reveal()`.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
