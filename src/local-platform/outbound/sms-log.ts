import { appendFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { durableFiles, makeFolder } from '../../runtime/durable-files.ts';
import { diskFailure } from './disk-failure.ts';
import { type Outbound, type OutgoingReply, type Sent, unreachable } from './outbound.ts';

/** Leaves each text message as a line of JSON in `sms.log`. DELIVERED is what is on disk. */
export class SmsLog implements Outbound {
  readonly inOrder = true;
  readonly canRepeat = true;
  readonly #path: string;

  constructor(folder: string) {
    makeFolder(folder);
    this.#path = join(folder, 'sms.log');
  }

  async send({ id, at, from, to, content: text }: OutgoingReply): Promise<Sent> {
    if (from === undefined || to === undefined) throw unreachable('a number');
    const line = JSON.stringify({ at: at.toISOString(), id, from, to, text });
    try {
      await appendFile(this.#path, `${line}\n`, { mode: 0o600, flush: true });
      await durableFiles.syncFolder(dirname(this.#path));
    } catch (error) {
      throw diskFailure(error);
    }
    return { outboxPath: this.#path };
  }
}
