import { atRate } from '../support/at-rate.ts';
import { timeOfDay } from '../support/wait-until.ts';
import { type Email, type EmailKind, makeEmails } from './email-messages.ts';
import { SmtpSession } from './smtp-session.ts';

export interface EmailRun {
  /** Times of day in ms: all sessions were open; the last message was acknowledged. */
  readonly startedAt: number;
  readonly acceptedAt: number;
}

/** Sends varied messages over a number of persistent sessions. */
export function start() {
  let emails: Email[] = [];
  return Promise.resolve({
    /** Prepares the next load before the measurement, for this many shops in turn. */
    prepare: (kind: EmailKind, count: number, shops = 1): void => {
      emails = makeEmails(kind, count, shops);
    },
    /** The same with messages from elsewhere. */
    take: (made: Email[]): void => {
      emails = made;
    },
    run: async (port: number, connections: number): Promise<EmailRun> => {
      const sessions = await Promise.all(
        Array.from({ length: connections }, () => SmtpSession.open(port)),
      );
      const startedAt = timeOfDay();
      await Promise.all(
        sessions.map(async (session) => {
          for (let email = emails.pop(); email !== undefined; email = emails.pop()) {
            await session.send(email.sender, email.chunks, email.recipient);
          }
        }),
      );
      const acceptedAt = timeOfDay();
      for (const session of sessions) session.close();
      return { startedAt, acceptedAt };
    },
    /** The same at this rate a second, each on a connection of its own. */
    steadily: (port: number, perSecond: number): Promise<void> =>
      atRate(emails.splice(0), perSecond, async ({ sender, chunks }) => {
        const session = await SmtpSession.open(port);
        await session.send(sender, chunks);
        session.close();
      }),
  });
}
