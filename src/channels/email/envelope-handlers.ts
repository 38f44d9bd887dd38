import type { SMTPServer } from 'smtp-server';
import type { AddressDirectory } from '../../intake/routing.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Networks } from './client-address.ts';
import { createMessageRate, type MessageRateOptions } from './message-rate.ts';
import { type RefusalReason, SmtpRefusal } from './smtp-reply.ts';
import type { TransactionDirectories } from './transaction-directories.ts';

export interface EnvelopeOptions {
  readonly messageRate: MessageRateOptions;
}

export interface EnvelopeParts {
  readonly blobs: BlobStore;
  readonly directories: TransactionDirectories;
  readonly trusted: Networks;
  readonly logger: Logger;
  readonly onRefused: (reason: RefusalReason, sessionId: string) => void;
}

/** What MAIL FROM and RCPT TO are answered. */
export function createEnvelopeHandlers(
  { messageRate }: EnvelopeOptions,
  { blobs, directories, trusted, logger, onRefused }: EnvelopeParts,
): Pick<SMTPServer, 'onMailFrom' | 'onRcptTo'> {
  const countMessage = createMessageRate(messageRate, trusted);

  const mayBegin = async (remoteAddress: string): Promise<void> => {
    await countMessage(remoteAddress);
    await blobs.assertSpace();
  };
  const refusal = (error: unknown, sessionId: string): SmtpRefusal => {
    const refused = toRefusal(error);
    if (refused.reason === 'unavailable') logger.error('smtp.failed', errorFields(error));
    onRefused(refused.reason, sessionId);
    return refused;
  };

  return {
    onMailFrom(_address, session, callback) {
      const { remoteAddress, id } = session;
      directories.begin(session);
      mayBegin(remoteAddress).then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(refusal(error, id));
        },
      );
    },
    onRcptTo({ address }, session, callback) {
      const reason = recipientTrouble(directories.of(session), address);
      callback(reason === undefined ? null : refusal(reason, session.id));
    },
  };
}

function recipientTrouble(directory: AddressDirectory, recipient: string): unknown {
  try {
    const route = directory.route(recipient);
    return typeof route === 'string' ? new SmtpRefusal(route) : undefined;
  } catch (error) {
    return error ?? new SmtpRefusal('unavailable');
  }
}

/** Whatever went wrong, as the reply to the client; never 5xx for trouble that is ours. */
export function toRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error;
  return new SmtpRefusal(error instanceof SpoolFull ? 'disk_short' : 'unavailable', {
    cause: error,
  });
}
