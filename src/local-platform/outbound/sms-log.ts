import { mkdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from './disk-failure.ts';
import { type Outbound, type OutgoingReply, type Sent, unreachable } from './outbound.ts';

/** Leaves each text message as a line of JSON in `sms.log`. */
export class SmsLog implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = true;
  readonly #path: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#path = join(folder, 'sms.log');
  }

  async send({ id, at, from, to, content: text }: OutgoingReply): Promise<Sent> {
    if (from === undefined || to === undefined) throw unreachable('a number');
    const line = JSON.stringify({ at: at.toISOString(), id, from, to, text });
    await appendFile(this.#path, `${line}\n`, { mode: 0o600 }).catch((error: unknown) => {
      throw diskFailure(error);
    });
    return { outboxPath: this.#path };
  }
}
