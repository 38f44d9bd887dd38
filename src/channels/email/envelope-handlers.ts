import type { SMTPServer, SMTPServerSession } from 'smtp-server';
import type { Intake } from '../../intake/intake.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { SpoolFull } from '../../spool/errors.ts';
import type { Networks } from '../../runtime/networks.ts';
import { createMessageRate, type MessageRateOptions } from './message-rate.ts';
import { type RefusalReason, SmtpRefusal } from './smtp-reply.ts';
import type { TransactionDirectories } from './transaction-directories.ts';

export interface EnvelopeOptions {
  readonly messageRate: MessageRateOptions;
}

export interface EnvelopeParts {
  readonly intake: Pick<Intake, 'assertSpace'>;
  readonly directories: TransactionDirectories;
  readonly trusted: Networks;
  readonly logger: Logger;
  readonly onRefused: (reason: RefusalReason, sessionId: string) => void;
}

/** What MAIL FROM and RCPT TO are answered. */
export function createEnvelopeHandlers(
  { messageRate }: EnvelopeOptions,
  { intake, directories, trusted, logger, onRefused }: EnvelopeParts,
): Pick<SMTPServer, 'onMailFrom' | 'onRcptTo'> {
  const countMessage = createMessageRate(messageRate, trusted);

  const mayBegin = async (remoteAddress: string): Promise<void> => {
    await countMessage(remoteAddress);
    await intake.assertSpace([]);
  };
  const mayReceive = async (recipient: string, session: SMTPServerSession): Promise<void> => {
    const route = directories.of(session).route(recipient);
    if (typeof route === 'string') throw new SmtpRefusal(route);
    await intake.assertSpace([route.shopId]);
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
      mayReceive(address, session).then(
        () => {
          callback();
        },
        (error: unknown) => {
          callback(refusal(error, session.id));
        },
      );
    },
  };
}

/** Whatever went wrong, as the reply to the client; never 5xx for trouble that is ours. */
export function toRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error;
  return new SmtpRefusal(error instanceof SpoolFull ? 'disk_short' : 'unavailable', {
    cause: error,
  });
}
