import { mkdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outbound, type OutgoingReply, type Sent, Unreachable } from './outbound.ts';

/** Leaves each text message as a line of JSON in `sms.log`. */
export class SmsLog implements Outbound {
  readonly #path: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#path = join(folder, 'sms.log');
  }

  async send({ id, at, from, to, text }: OutgoingReply): Promise<Sent> {
    if (from === undefined || to === undefined) throw new Unreachable('a number is missing');
    const line = JSON.stringify({ at: at.toISOString(), id, from, to, text });
    await appendFile(this.#path, `${line}\n`, { mode: 0o600 });
    return { outboxPath: this.#path };
  }
}

/** Web chat has nothing to send: the visitor's gateway reads the messages. */
export const webChat: Outbound = { send: () => Promise.resolve({}) };
