import type { Transporter } from 'nodemailer';
import {
  RELAY_PATIENCE,
  type RelayOptions,
  relayTransport,
} from '../../runtime/relay-transport.ts';
import { compose } from './email-message.ts';
import type { Attempt, Outbound, OutgoingReply, Sent } from './outbound.ts';
import { smtpFailure } from './smtp-failure.ts';

/**
 * Sends each email through an SMTP relay, one connection a reply: replies are few, and the trouble
 * of one connection is then the trouble of one reply.
 *
 * Between the relay's 250 and our note of it lies a moment in which a crash makes the reply leave
 * twice; SMTP has no way to ask. Both then carry the same Message-ID, by which mail programs and
 * many servers tell that it is one message.
 */
export class Relay implements Outbound {
  readonly inOrder = false;
  readonly canRepeat = false;
  readonly #transport: Transporter;
  readonly #totalMs: number;

  constructor(options: RelayOptions) {
    this.#totalMs = (options.patience ?? RELAY_PATIENCE).totalMs;
    this.#transport = relayTransport(options);
  }

  async send(reply: OutgoingReply, { signal }: Attempt): Promise<Sent> {
    const raw = await compose(reply);
    try {
      await this.#transport.sendMail({
        // A bounce goes where the customer's mail went: the gateway keeps bounces from the platform.
        envelope: { from: mailbox(reply.from), to: mailbox(reply.to) },
        raw,
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#totalMs)]),
      });
      return {};
    } catch (error) {
      throw smtpFailure(error);
    }
  }

  close(): void {
    this.#transport.close();
  }
}

/**
 * As an object: text would be read as a list. Its domain leaves in ASCII, which every relay knows,
 * unless the local part has no such form (RFC 6531 §3.2).
 */
const mailbox = (address = '') => ({ name: '', address });
