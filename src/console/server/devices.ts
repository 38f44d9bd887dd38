import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { Operators } from './operators.ts';

/** A browser that nobody signs in with for so long is a stranger again. */
export const DEVICE_MS = 180 * 24 * 60 * 60 * 1000;
const TOKEN = /^([\w-]{22})\.([0-9a-z]{1,10})\.([\w-]{43})$/;

export interface DeviceParts {
  /** Outlives restarts. */
  readonly key: Uint8Array;
  readonly operators: Operators;
  readonly clock: Clock;
}

/**
 * Browsers in which an operator has signed in (OWASP, "Slow Down Online Guessing Attacks with
 * Device Cookies"). Such a token lets nobody in: wrong passwords of others are not counted against
 * the browser that has it. It is signed for one operator and the password of that time, so that
 * tokens collected before the password was replaced are worth nothing.
 */
export class Devices {
  readonly #parts: DeviceParts;

  constructor(parts: DeviceParts) {
    this.#parts = parts;
  }

  /** @param password as it is configured */
  issue(operator: string, password = ''): string {
    const id = randomBytes(16).toString('base64url');
    const at = Math.floor(this.#parts.clock() / 1000).toString(36);
    return `${id}.${at}.${this.#seal(operator, password, id, at).toString('base64url')}`;
  }

  /** The browser's id, when the token was given to it for this operator. */
  idOf(token: string | undefined, operator: string): string | undefined {
    const password = this.#parts.operators.passwordOf(operator);
    const [, id, at, seal] = TOKEN.exec(token ?? '') ?? [];
    if (password === undefined || id === undefined || at === undefined || seal === undefined) {
      return undefined;
    }
    if (parseInt(at, 36) * 1000 + DEVICE_MS <= this.#parts.clock()) return undefined;
    const given = Buffer.from(seal, 'base64url');
    return timingSafeEqual(given, this.#seal(operator, password, id, at)) ? id : undefined;
  }

  #seal(operator: string, password: string, id: string, at: string): Buffer {
    const what = JSON.stringify([operator, password, id, at]);
    return createHmac('sha256', this.#parts.key).update(what).digest();
  }
}
