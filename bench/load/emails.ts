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
    /** Prepares the next load before the measurement. */
    prepare: (kind: EmailKind, count: number): void => {
      emails = makeEmails(kind, count);
    },
    run: async (port: number, connections: number): Promise<EmailRun> => {
      const sessions = await Promise.all(
        Array.from({ length: connections }, () => SmtpSession.open(port)),
      );
      const startedAt = timeOfDay();
      await Promise.all(
        sessions.map(async (session) => {
          for (let email = emails.pop(); email !== undefined; email = emails.pop()) {
            await session.send(email.sender, email.chunks);
          }
        }),
      );
      const acceptedAt = timeOfDay();
      for (const session of sessions) session.close();
      return { startedAt, acceptedAt };
    },
  });
}
