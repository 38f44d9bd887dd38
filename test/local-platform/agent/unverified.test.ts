import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { UNKNOWN_NETWORK, UNVERIFIED_HEADER } from '../../../src/platform-api/schemas.ts';
import type { Message, Page, Ticket } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { startMailRelay } from '../../support/mail-relay.ts';
import { waitFor } from '../../support/wait-for.ts';
import { anEmail, call, KNOWLEDGE, startPlatform } from '../harness.ts';

const HOUR_MS = 3_600_000;

/** A platform that answers through a relay, and a clock that a test moves. */
async function scene({ hasRelay = true } = {}) {
  const relay = await startMailRelay();
  ends(() => relay.close());
  const time = { at: Date.now() };
  const platform = await startPlatform({
    agent: { kind: 'builtin', knowledgeDir: KNOWLEDGE },
    clock: () => time.at,
    ...(hasRelay && {
      replies: {
        relay: { host: '127.0.0.1', port: relay.port, implicitTls: false, tls: 'auto' },
      },
    }),
  });
  /** An email from its own sender, as the gateway posts it. */
  const post = async (network: string | undefined, change: Parameters<typeof anEmail>[0] = {}) => {
    const email = `${randomUUID()}@victim.example`;
    const body = anEmail({ contact: { email, name: 'Buy pills' }, ...change });
    const headers = network === undefined ? {} : { [UNVERIFIED_HEADER]: network };
    const answer = await call<Message>(platform, 'POST', '/messages/', { body, headers });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  /** Once the agent has handled them: answered, or left to a person. */
  const handled = (messages: readonly Message[]) =>
    waitFor('the agent', async () => {
      const { body } = await call<Page<Ticket>>(platform, 'GET', '/tickets/?limit=200');
      const byId = new Map(body.results.map(({ id, status }) => [id, status]));
      const all = messages.map((message) => byId.get(message.ticket_id ?? ''));
      return all.every((status) => status !== 'New' && status !== 'Open') && all;
    });
  return { relay, time, post, handled };
}

const many = <T>(count: number, make: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, make));
const countOf = (all: readonly unknown[], status: string) =>
  all.filter((each) => each === status).length;

test('forged mails of one network get ten answers in an hour, the others wait for a person', async () => {
  const { relay, time, post, handled } = await scene();
  const forged = await many(30, () => post('203.0.113.0/24'));
  const statuses = await handled(forged);
  expect(countOf(statuses, 'WaitingContact')).toBe(10);
  expect(countOf(statuses, 'WaitingUser')).toBe(20);
  // Others are answered meanwhile: another network, and who is verified.
  const others = [await post('198.51.100.0/24'), await post(undefined)];
  expect(await handled(others)).toEqual(['WaitingContact', 'WaitingContact']);
  await waitFor('the answers', () => relay.taken.length === 12);
  time.at += HOUR_MS + 1000;
  expect(await handled([await post('203.0.113.0/24')])).toEqual(['WaitingContact']);
});

test('forged mails of many networks get sixty answers of a shop in an hour', async () => {
  const { post, handled } = await scene();
  let n = 0;
  const forged = await many(70, () => post(`10.0.${(n += 1)}.0/24`));
  expect(countOf(await handled(forged), 'WaitingContact')).toBe(60);
  expect(await handled([await post(UNKNOWN_NETWORK)])).toEqual(['WaitingUser']);
  expect(await handled([await post(undefined)])).toEqual(['WaitingContact']);
});

test('a network that is not known has the budget of the shop', async () => {
  const { post, handled } = await scene();
  const forged = await many(12, () => post(UNKNOWN_NETWORK));
  expect(countOf(await handled(forged), 'WaitingContact')).toBe(12);
});

test('the answer to a forged mail has no word of it in subject, name and salutation', async () => {
  const { relay, post } = await scene();
  const message = {
    content: 'Can I return my shoes?',
    email: { subject: 'Cheap pills at x.example' },
  };
  await post('203.0.113.0/24', {
    contact: { email: 'v@victim.example', name: 'Cheap Pills' },
    message,
  });
  const { mail, raw } = await waitFor('the answer', () => relay.taken[0]);
  expect(mail.subject).toBe('Re: your message');
  expect(mail.to).toMatchObject({ value: [{ address: 'v@victim.example', name: '' }] });
  expect(raw).not.toMatch(/pills/i);
});

test('who answers an answer of ours is verified, and nobody else who names its id', async () => {
  const { relay, post } = await scene();
  const ann = { contact: { email: 'ann@example.com', name: 'Ann Lee' } };
  const asks = (in_reply_to?: string) => ({
    content: 'Can I return my shoes?',
    email: { subject: 'Shoes', ...(in_reply_to !== undefined && { in_reply_to }) },
  });
  await post('203.0.113.0/24', { ...ann, message: asks() });
  const first = await waitFor('the answer', () => relay.taken[0]);
  const id = first.mail.messageId ?? '';
  await post('203.0.113.0/24', { ...ann, message: asks(id) });
  const second = await waitFor('the next answer', () => relay.taken[1]);
  expect(second.mail.subject).toBe('Re: Shoes');
  const eve = { contact: { email: 'eve@example.com', name: 'Eve' } };
  await post('203.0.113.0/24', { ...eve, message: asks(id) });
  const third = await waitFor('the answer to the other', () => relay.taken[2]);
  expect(third.mail).toMatchObject({
    subject: 'Re: your message',
    to: { text: 'eve@example.com' },
  });
});

test('without a relay nothing leaves, and there is no budget', async () => {
  const { post, handled } = await scene({ hasRelay: false });
  const forged = await many(15, () => post('203.0.113.0/24'));
  expect(countOf(await handled(forged), 'WaitingContact')).toBe(15);
});

test('a header that cannot be read counts as an unknown network', async () => {
  const { relay, post } = await scene();
  await post('x'.repeat(4000), {
    message: { content: 'Opening hours?', email: { subject: 'A b' } },
  });
  const { mail } = await waitFor('the answer', () => relay.taken[0]);
  expect(mail.subject).toBe('Re: your message');
});
