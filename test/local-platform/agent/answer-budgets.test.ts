import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { AgentAnswer } from '../../../src/local-platform/agent/agent.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { UNKNOWN_NETWORK, UNVERIFIED_HEADER } from '../../../src/platform-api/schemas.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { waitFor } from '../../support/wait-for.ts';
import { anEmail, call, newFolder, SHOP, startPlatform } from '../harness.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NETWORK = '203.0.113.0/24';
const CONFIRMED = null;

/** A platform whose agent answers everything, and a clock that a test moves. */
async function scene({ answersPerHour = 600, dir = newFolder() } = {}) {
  const time = { at: Date.now() };
  const answer: AgentAnswer = { text: 'Yes.', escalate: false };
  const open = () =>
    startPlatform({
      ...{ dir, answersPerHour, clock: () => time.at },
      agent: { kind: 'custom', agent: { answer: () => Promise.resolve(answer) } },
    });
  const state: { platform: LocalPlatform } = { platform: await open() };
  const post = async (body: unknown, network: string | null) => {
    const headers = network === null ? {} : { [UNVERIFIED_HEADER]: network };
    const answer = await call<Message>(state.platform, 'POST', '/messages/', { body, headers });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  /** A message of a chat visitor, each in a new conversation, as the gateway posts it. */
  const chat = (visitor: string, network: string | null = NETWORK, email?: string) =>
    post(
      {
        contact: { name: 'Visitor', ...(email !== undefined && { email }) },
        conversation: { direction: 'inbound', type: 'web_chat' },
        message: { content: 'Hello?', remote_id: `chat:${visitor}:${randomUUID()}` },
      },
      network,
    );
  const sms = (phone: string) =>
    post(
      {
        contact: { phone },
        conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
        message: { content: randomUUID() },
      },
      CONFIRMED,
    );
  const email = (address: string) => post(anEmail({ contact: { email: address } }), CONFIRMED);
  /** How many of these messages are answered, once the agent has handled all of them. */
  const answered = async (messages: readonly Message[]) => {
    const tickets = messages.map(({ ticket_id: id }) => id ?? '');
    const statuses = await waitFor('the agent', () => {
      const all = tickets.map((id) => state.platform.desk.ticket(SHOP.shopId, id).status);
      return all.every((status) => status.startsWith('Waiting')) && all;
    });
    return statuses.filter((status) => status === 'WaitingContact').length;
  };
  const ticket = ({ ticket_id: id }: Message) => state.platform.desk.ticket(SHOP.shopId, id ?? '');
  const restart = async () => {
    await state.platform.stop();
    state.platform = await open();
  };
  return { state, time, chat, sms, email, answered, ticket, restart };
}

const many = async <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> => {
  const all: T[] = [];
  for (let n = 0; n < count; n += 1) all.push(await make(n));
  return all;
};

describe('one person', () => {
  test('a visitor in a loop of new conversations gets 20 answers in ten minutes, 100 in a day', async () => {
    const { time, chat, answered, restart } = await scene();
    expect(await answered(await many(25, () => chat('one')))).toBe(20);
    // Another address, another network and a restart change nothing.
    await restart();
    const more = [
      ...(await many(3, (n) => chat('one', `198.51.${n}.0/24`))),
      ...(await many(3, (n) => chat('one', NETWORK, `p${n}@example.com`))),
      await chat('one', CONFIRMED),
    ];
    expect(await answered(more)).toBe(0);
    expect(await answered([await chat('two')])).toBe(1);
    for (const expected of [20, 20, 20, 20, 0]) {
      time.at += 11 * MINUTE_MS;
      expect(await answered(await many(22, () => chat('one', CONFIRMED)))).toBe(expected);
    }
    time.at += 24 * HOUR_MS;
    expect(await answered([await chat('one')])).toBe(1);
  });

  test.each(['email', 'sms'] as const)(
    'by %s: 10 in ten minutes, in all conversations',
    async (channel) => {
      const { answered, ...write } = await scene();
      const [one, two] =
        channel === 'sms' ? ['+15550002222', '+15550003333'] : ['a@x.example', 'b@x.example'];
      expect(await answered(await many(12, () => write[channel](one)))).toBe(10);
      expect(await answered([await write[channel](two)])).toBe(1);
    },
  );
});

describe('persons whom nothing confirms', () => {
  test('200 new visitors of one network get a quarter of the hour, and 20 confirmed ones all of theirs', async () => {
    const { chat, answered } = await scene();
    const strangers = await many(100, () => chat(randomUUID()));
    const confirmed = await many(20, () => chat(randomUUID(), CONFIRMED));
    strangers.push(...(await many(100, () => chat(randomUUID()))));
    expect(await answered(strangers)).toBe(150);
    expect(await answered(confirmed)).toBe(20);
    expect(await answered([await chat(randomUUID(), '198.51.100.0/24')])).toBe(1);
  });

  test('all networks together get half of the hour; whom a person has answered, and the confirmed, have the rest', async () => {
    const { state, chat, answered, ticket } = await scene({ answersPerHour: 40 });
    const known = await chat('known', UNKNOWN_NETWORK);
    await answered([known]);
    await state.platform.desk.reply(
      { shopId: SHOP.shopId, id: ticket(known).id, version: ticket(known).version, who: 'ann' },
      { text: 'Hello!', format: 'TEXT', files: [] },
    );
    const strangers = await many(30, (n) => chat(randomUUID(), `10.0.${n}.0/24`));
    // One of them is the answer to the known visitor, who was not known then.
    expect(await answered(strangers)).toBe(19);
    expect(await answered([await chat(randomUUID(), UNKNOWN_NETWORK)])).toBe(0);
    expect(await answered([await chat('known'), await chat('new', CONFIRMED)])).toBe(2);
  });
});

describe('confirmed senders of one domain', () => {
  test('get a quarter of the hour together, and those of other domains and of shared ones the rest', async () => {
    const { state, email, answered, ticket } = await scene({ answersPerHour: 60 });
    const attack = await many(34, (n) => email(`u${n}@${n % 2 ? 'ABC' : `s${n}.abc`}.de`));
    expect(await answered(attack)).toBe(15);
    const [last] = attack.slice(-1);
    expect(last && ticket(last)).toMatchObject({ limitReached: 'domain_budget' });
    expect(state.platform.desk.count(SHOP.shopId)).toMatchObject({
      overLimits: { shopBudget: 19 },
    });
    expect(await answered(await many(5, (n) => email(`c${n}@shop${n}.example`)))).toBe(5);
    expect(await answered(await many(20, (n) => email(`c${n}@gmail.com`)))).toBe(20);
    // A part of a name is no domain.
    expect(await answered([await email('a@notabc.de')])).toBe(1);
  });
});

describe('the hour of a shop', () => {
  test('above it, the confirmed wait for people too, who see why and can let the agent answer', async () => {
    const { state, time, chat, answered, ticket } = await scene({ answersPerHour: 10 });
    const all = await many(13, (n) => chat(`v${n}`, CONFIRMED));
    expect(await answered(all)).toBe(10);
    const [last] = all.slice(-1);
    if (last === undefined) throw new Error('there is no message');
    const left = ticket(last);
    expect(left).toMatchObject({
      status: 'WaitingUser',
      agent: 'answers',
      limitReached: 'shop_budget',
    });
    const { desk } = state.platform;
    expect(desk.count(SHOP.shopId)).toMatchObject({
      overLimits: { unverified: 0, shopBudget: 3 },
    });
    await desk.handBack({ shopId: SHOP.shopId, id: left.id, version: left.version, who: 'ann' });
    await waitFor('the answer', () => ticket(last).status === 'WaitingContact');
    expect(ticket(last)).not.toHaveProperty('limitReached');
    // It counts, and lifts the limit for nobody else.
    expect(await answered([await chat('next', CONFIRMED)])).toBe(0);
    time.at += HOUR_MS + 1;
    expect(await answered([await chat('later', CONFIRMED)])).toBe(1);
    expect(desk.count(SHOP.shopId)).not.toHaveProperty('overLimits');
  });

  test('a clock that is set back frees no limit, and one that was far ahead does not stop the agent', async () => {
    const { time, chat, answered, restart } = await scene({ answersPerHour: 4 });
    expect(await answered(await many(5, (n) => chat(`a${n}`, CONFIRMED)))).toBe(4);
    time.at -= 50 * MINUTE_MS;
    await restart();
    expect(await answered([await chat('b', CONFIRMED)])).toBe(0);
    time.at -= 24 * HOUR_MS;
    expect(await answered(await many(5, (n) => chat(`c${n}`, CONFIRMED)))).toBe(4);
  });

  test('has as many answers as configured while several conversations are answered at once', async () => {
    const { chat, answered } = await scene({ answersPerHour: 30 });
    const all = await Promise.all(Array.from({ length: 60 }, (_, n) => chat(`v${n}`, CONFIRMED)));
    expect(await answered(all)).toBe(30);
  });
});
