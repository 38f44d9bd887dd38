import { expect, test } from '@jest/globals';
import nodemailer from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import type Mail from 'nodemailer/lib/mailer/index.js';
import { DnsServer } from '../support/dns-server.ts';
import { ends } from '../support/ends.ts';
import { ACME_SHOP, INBOUND_TOKEN, INBOX } from '../support/gateway-config.ts';
import { type RelayedMail, startMailRelay } from '../support/mail-relay.ts';
import { waitFor } from '../support/wait-for.ts';
import { embeddedScene } from './embedded-scene.ts';

const FORGED = 200;
/** Words, a number and a link of the forger; parts of the number alone are in random ids, too. */
const FORGERS = /pills|0900\s?4711|chemist/i;

/** A gateway that answers through a relay; mail of this machine to friend.example passes DMARC. */
async function scene(smtp: Readonly<Record<string, unknown>>) {
  const relay = await startMailRelay();
  ends(() => relay.close());
  const dns = await DnsServer.start({
    'friend.example TXT': ['v=spf1 ip4:127.0.0.1 -all'],
    '_dmarc.friend.example TXT': ['v=DMARC1; p=none'],
    '_dmarc.strict.example TXT': ['v=DMARC1; p=quarantine'],
    '. NS': [],
  });
  ends(() => dns.stop());
  const { gateway, log } = await embeddedScene({
    replies: { relay: `smtp://127.0.0.1:${relay.port}`, relayTls: 'off' },
    dns: { servers: [dns.address] },
    smtp: { rates: { connectionsPerMinutePerIp: 1e6, messagesPerMinutePerIp: 1e6 }, ...smtp },
    alerts: { every: '1s' },
    shops: [{ ...ACME_SHOP, email: { dmarc: 'observe' } }],
  });
  const transport = nodemailer.createTransport({
    ...{ host: '127.0.0.1', port: gateway.smtpPort, tls: { rejectUnauthorized: false } },
    ...{ pool: true, maxConnections: 8, maxMessages: Infinity },
  });
  ends(() => transport.close());
  const told = (event: string) => log.filter((line) => line.includes(`"event":"${event}"`)).length;
  /** Once the agent has answered this many messages, or left them to people. */
  const handled = (count: number) =>
    waitFor(`${count} messages`, () => told('agent.answered') + told('agent.silent') >= count);
  /** What the relay has, once nothing more is on its way. */
  const answers = () =>
    waitFor('the answers', () => relay.taken.length === told('agent.answered') && relay.taken);
  return { gateway, transport, handled, answers, told };
}

const victim = (n: number) => `victim-${n}@victims.example`;

const forged = (n: number): Mail.Options => ({
  from: { name: `Cheap pills ${n}`, address: victim(n) },
  to: INBOX,
  subject: 'Cheap pills, call 0900 4711',
  messageId: `<pills-${n}@chemist.example>`,
  inReplyTo: `<more-pills-${n}@chemist.example>`,
  references: [`<pills-a-${n}@chemist.example>`, `<pills-b-${n}@chemist.example>`],
  text: `Can I return my shoes? See https://chemist.example/4711 (${n})`,
});

/** A few at once, as a server would send them. */
async function all(count: number, send: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const sender = async () => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: 8 }, sender));
}

const repliesTo = (taken: readonly RelayedMail[], n: number) =>
  taken.filter(({ to }) => to.includes(victim(n)));

function expectNeutral(taken: readonly RelayedMail[]): void {
  for (const { raw, mail } of taken) {
    expect(raw).not.toMatch(FORGERS);
    expect(mail.subject).toBe('Re: your message');
  }
}

test('200 forged mails sent directly: ten answers, one alert, and customers are answered meanwhile', async () => {
  const { transport, handled, answers, told } = await scene({ trustedRelays: [] });
  await all(FORGED, (n) => transport.sendMail(forged(n)));
  await handled(FORGED);
  const first = [...(await answers())];
  expect(first).toHaveLength(10);
  expectNeutral(first);

  // From the same network: ten who answer our answers, and fifty who are confirmed.
  await all(10, (n) => {
    const { mail, to } = first[n] ?? {};
    const [address = ''] = to ?? [];
    return transport.sendMail({
      ...{
        from: address,
        to: INBOX,
        inReplyTo: mail?.messageId ?? '',
        subject: 'Re: your message',
      },
      text: `How long does shipping take? (${n})`,
    });
  });
  await all(50, (n) =>
    transport.sendMail({
      ...{ from: `p${n}@friend.example`, to: INBOX, subject: `Returns ${n}` },
      text: 'Can I return my shoes?',
    }),
  );
  await handled(FORGED + 60);
  expect(await answers()).toHaveLength(70);

  // The strangers who were answered get nothing more.
  await all(FORGED, (n) =>
    transport.sendMail({ ...forged(n), messageId: `<again-${n}@chemist.example>` }),
  );
  await handled(2 * FORGED + 60);
  expect(await answers()).toHaveLength(70);
  await waitFor('the alert', () => told('alert.firing') > 0);
  expect(told('alert.firing')).toBe(1);
});

test('through a relay that is trusted by default: the network of the hop before, and of the shop', async () => {
  const { transport, handled, answers } = await scene({});
  const via = (client: string, n: number) => ({
    ...forged(n),
    headers: { received: `from pills (pills [${client}]) by relay.acme.example with ESMTP; now` },
  });
  await all(FORGED, (n) => transport.sendMail(via(`8.8.8.${n}`, n)));
  await handled(FORGED);
  const first = [...(await answers())];
  expect(first).toHaveLength(10);
  expectNeutral(first);
  // Without a public address, the limit of the shop alone.
  await all(60, (n) => transport.sendMail(via('10.0.0.1', FORGED + n)));
  await handled(FORGED + 60);
  expect(await answers()).toHaveLength(60);
  await all(FORGED, (n) =>
    transport.sendMail({ ...via(`9.9.${n}.9`, n), messageId: `<again-${n}@chemist.example>` }),
  );
  await handled(2 * FORGED + 60);
  const last = await answers();
  expect(last).toHaveLength(60);
  expectNeutral(last);
  expect(repliesTo(last, 0).length).toBeLessThanOrEqual(1);
});

test('by POST /email/inbound: the limit of the shop', async () => {
  const { gateway, handled, answers } = await scene({});
  const post = async (n: number) => {
    const message = await new MailComposer(forged(n)).compile().build();
    const url = `${gateway.httpUrl}/email/inbound?from=eve@chemist.example&to=${INBOX}`;
    const headers = { 'content-type': 'message/rfc822', authorization: `Bearer ${INBOUND_TOKEN}` };
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(message) });
    expect(response.status).toBe(202);
  };
  await all(FORGED, post);
  await handled(FORGED);
  const taken = await answers();
  expect(taken).toHaveLength(60);
  expectNeutral(taken);
});

test('one that fails the policy of its domain gets none, although the shop only observes that', async () => {
  const { transport, handled, answers } = await scene({ trustedRelays: [] });
  const strict = { ...forged(1), from: 'ann@strict.example' };
  await transport.sendMail(strict);
  await transport.sendMail(forged(2));
  await handled(2);
  const taken = await answers();
  expect(taken.map(({ to }) => to)).toEqual([[victim(2)]]);
  // The id of an answer that went to somebody else changes nothing.
  const inReplyTo = taken[0]?.mail.messageId ?? '';
  await transport.sendMail({ ...strict, messageId: '<b@strict.example>', inReplyTo });
  await handled(3);
  expect(await answers()).toHaveLength(1);
});
