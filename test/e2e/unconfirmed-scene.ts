import { generateKeyPairSync } from 'node:crypto';
import { expect } from '@jest/globals';
import nodemailer from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import type Mail from 'nodemailer/lib/mailer/index.js';
import { type LogFields, type Logger, silentLogger } from '../../src/observability/logger.ts';
import { DnsServer } from '../support/dns-server.ts';
import type { ShopChoices } from '../support/gateway-config.ts';
import { type RelayedMail, startMailRelay } from '../support/mail-relay.ts';
import { startGateway } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** Words, a number and a link of the forger; parts of the number alone are in random ids, too. */
const FORGERS = /pills|0900\s?4711|chemist/i;

/** Mail from this address of the machine is a trusted relay's, and from 127.0.0.1 a stranger's. */
const RELAY = '127.0.0.2';

/** Of signed.example, which sends from anywhere and signs. */
const KEYS = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** A gateway that answers through a relay; mail of 127.0.0.1 to friend.example passes DMARC. */
export async function unconfirmedScene(shops: readonly ShopChoices[]) {
  const steps: (() => unknown)[] = [];
  const relay = await startMailRelay();
  steps.push(() => relay.close());
  const dns = await DnsServer.start({
    'friend.example TXT': ['v=spf1 ip4:127.0.0.1 -all'],
    '_dmarc.friend.example TXT': ['v=DMARC1; p=none'],
    '_dmarc.strict.example TXT': ['v=DMARC1; p=quarantine'],
    '_dmarc.signed.example TXT': ['v=DMARC1; p=reject'],
    'k._domainkey.signed.example TXT': [`v=DKIM1; p=${KEYS.publicKey.toString('base64')}`],
    '1.0.0.127.in-addr.arpa PTR': ['out.forwarder.example'],
    'out.forwarder.example A': ['127.0.0.1'],
    '. NS': [],
  });
  steps.push(() => dns.stop());
  const dir = tempDir();
  steps.push(() => dir.remove());
  const log: string[] = [];
  const line = (event: string, fields: LogFields = {}) =>
    void log.push(`${event} ${String(fields['rule'] ?? '')}${String(fields['shop'] ?? '')}`.trim());
  const logger: Logger = {
    ...silentLogger,
    ...{ error: line, warn: line, info: line, debug: line, with: () => logger },
  };
  const gateway = await startGateway(
    {
      ...{ dataDir: dir.path, shops, dns: { servers: [dns.address] }, alerts: { every: '1s' } },
      replies: { relay: `smtp://127.0.0.1:${relay.port}`, relayTls: 'off' },
      smtp: {
        trustedRelays: [RELAY],
        rates: { connectionsPerMinutePerIp: 1e6, messagesPerMinutePerIp: 1e6 },
      },
    },
    logger,
  );
  steps.push(() => gateway.stop());
  const transportFrom = (localAddress: string) => {
    const transport = nodemailer.createTransport({
      ...{ host: '127.0.0.1', port: gateway.smtpPort, tls: { rejectUnauthorized: false } },
      ...{ pool: true, maxConnections: 8, maxMessages: Infinity, localAddress },
    });
    steps.push(() => transport.close());
    return (mail: Mail.Options): Promise<unknown> => transport.sendMail(mail);
  };
  const told = (event: string) => log.filter((each) => each === event).length;
  const handled = () => told('agent.answered') + told('agent.silent');
  return {
    told,
    /** From the network of 127.0.0.1, itself or by a forwarder. */
    send: transportFrom('127.0.0.1'),
    sendByRelay: transportFrom(RELAY),
    post: async (shop: ShopChoices, mail: Mail.Options) => {
      const message = await new MailComposer(mail).compile().build();
      const response = await fetch(
        `${gateway.httpUrl}/email/inbound?from=eve@chemist.example&to=${shop.inbox}`,
        {
          method: 'POST',
          headers: {
            'content-type': 'message/rfc822',
            authorization: `Bearer ${shop.inboundToken}`,
          },
          body: new Uint8Array(message),
        },
      );
      expect(response.status).toBe(202);
    },
    /** Sends so many, a few at once as a server would, until the agent has handled them. */
    all: async (count: number, send: (n: number) => Promise<unknown>) => {
      const before = handled();
      let next = 0;
      const sender = async () => {
        while (next < count) await send(next++);
      };
      await Promise.all(Array.from({ length: 8 }, sender));
      await waitFor(`${count} messages`, () => handled() >= before + count);
    },
    /** What the shop has answered, once nothing more is on its way. */
    answersOf: async ({ inbox }: ShopChoices): Promise<readonly RelayedMail[]> => {
      await waitFor('the answers', () => relay.taken.length === told('agent.answered'));
      return relay.taken.filter(({ from }) => from === inbox);
    },
    stop: async () => {
      for (const step of steps.reverse()) await step();
    },
  };
}

export type UnconfirmedScene = Awaited<ReturnType<typeof unconfirmedScene>>;

export const victim = (n: number) => `victim-${n}@victims.example`;

/** @param again makes it another email to the same victim */
export const forged = ({ inbox }: ShopChoices, n: number, again = ''): Mail.Options => ({
  from: { name: `Cheap pills ${n}`, address: victim(n) },
  to: inbox,
  subject: 'Cheap pills, call 0900 4711',
  messageId: `<pills-${n}${again}@chemist.example>`,
  inReplyTo: `<more-pills-${n}@chemist.example>`,
  references: [`<pills-a-${n}@chemist.example>`, `<pills-b-${n}@chemist.example>`],
  text: `Can I return my shoes? See https://chemist.example/4711 (${n})`,
});

/** The same mail with the line of a server that has it from this client. */
export const via = (client: string, mail: Mail.Options): Mail.Options => ({
  ...mail,
  headers: { received: `from pills (pills [${client}]) by relay.acme.example with ESMTP; now` },
});

/** An answer to an answer that somebody has got. */
export const answerTo = ({ mail, to }: RelayedMail, { inbox }: ShopChoices): Mail.Options => ({
  ...{ from: to[0] ?? '', to: inbox, inReplyTo: mail.messageId ?? '' },
  ...{ subject: 'Re: your message', text: 'How long does shipping take?' },
});

/** An email whose sender DMARC confirms. */
export const confirmed = ({ inbox }: ShopChoices, n: number): Mail.Options => ({
  ...{ from: `p${n}@friend.example`, to: inbox, subject: `Returns ${n}` },
  text: 'Can I return my shoes?',
});

/** The same mail of signed.example, with a signature that covers these fields. */
export const signed = (mail: Mail.Options, headerFieldNames: string): Mail.Options => ({
  ...{ ...mail, from: 'ann@signed.example' },
  dkim: {
    ...{ domainName: 'signed.example', keySelector: 'k', privateKey: KEYS.privateKey },
    headerFieldNames,
  },
});

export function expectNeutral(taken: readonly RelayedMail[]): void {
  for (const { raw, mail } of taken) {
    expect(raw).not.toMatch(FORGERS);
    expect(mail.subject).toBe('Re: your message');
  }
}
