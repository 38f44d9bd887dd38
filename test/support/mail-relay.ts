import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

type Done = (error?: Error) => void;

/** A mail that the relay has taken. */
export interface RelayedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  /** Whether SMTPUTF8 was asked for (RFC 6531). */
  readonly smtpUtf8: boolean;
  readonly mail: ParsedMail;
}

/** Where the relay answers something else than its usual 2xx. */
export type RelayStage = 'connect' | 'mail' | 'rcpt' | 'data';

/** A code to answer with, or `drop`: the connection is reset; `drop-after-250`: once it has the mail. */
export type RelayAnswer = number | 'drop' | 'drop-after-250';

export interface MailRelay {
  readonly port: number;
  readonly taken: readonly RelayedMail[];
  /** How often somebody came. */
  readonly connections: number;
  /** The next times that a stage is reached. */
  answerNext(stage: RelayStage, ...answers: readonly RelayAnswer[]): void;
  close(): Promise<void>;
}

/** A real SMTP server in the place of a shop's relay. */
export async function startMailRelay(options: SMTPServerOptions = {}): Promise<MailRelay> {
  const taken: RelayedMail[] = [];
  const script = new Map<RelayStage, RelayAnswer[]>();
  let connections = 0;
  const sockets = new Map<number | undefined, Socket>();

  const at = (stage: RelayStage, { remotePort }: SMTPServerSession, done: Done): void => {
    const answer = script.get(stage)?.shift();
    if (typeof answer === 'number') done(refusal(answer));
    else if (answer === undefined) done();
    else sockets.get(remotePort)?.resetAndDestroy();
  };

  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onConnect: (session, done) => at('connect', session, done),
    onMailFrom: (_address, session, done) => at('mail', session, done),
    onRcptTo: (_address, session, done) => at('rcpt', session, done),
    onData: (stream, session, done) => {
      const keep = async () => {
        const raw = await buffer(stream);
        const { mailFrom, rcptTo, smtpUtf8 = false } = session.envelope;
        const { answer, isKept } = next(script.get('data'));
        if (isKept) {
          taken.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            raw: raw.toString(),
            smtpUtf8,
            mail: await simpleParser(raw),
          });
        }
        if (answer === undefined) done();
        else if (typeof answer === 'number') done(refusal(answer));
        else sockets.get(session.remotePort)?.resetAndDestroy();
      };
      keep().catch(done);
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.set(socket.remotePort, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    // A listening TCP server has an address of this kind.
    port: (server.server.address() as AddressInfo).port,
    taken,
    get connections() {
      return connections;
    },
    answerNext: (stage, ...answers) => {
      script.set(stage, [...(script.get(stage) ?? []), ...answers]);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function next(answers: RelayAnswer[] | undefined) {
  const answer = answers?.shift();
  return { answer, isKept: answer === undefined || answer === 'drop-after-250' };
}

const refusal = (responseCode: number) =>
  Object.assign(new Error('not now, ann@example.com'), { responseCode });
