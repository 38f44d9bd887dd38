import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/platform-api/resources.ts';
import type {
  LocalPlatform,
  LocalPlatformOptions,
} from '../../src/local-platform/local-platform.ts';
import { ECHO_HEADER } from '../../src/platform-api/schemas.ts';
import { waitFor } from '../support/wait-for.ts';
import { call, create, messagesOf, newFolder, SHOP, startPlatform, ticketOf } from './harness.ts';

const START = Date.parse('2026-03-02T10:00:00Z');
const MINUTE_MS = 60_000;
let now: number;
let asked: string[];
let platform: LocalPlatform;
let dir: string;

const start = (options: Partial<LocalPlatformOptions> = {}) =>
  startPlatform({
    dir,
    clock: () => now,
    agent: {
      kind: 'custom',
      agent: {
        answer: ({ text }) => {
          asked.push(text);
          return Promise.resolve({ text: `About: ${text}`, escalate: false });
        },
      },
    },
    ...options,
  });

beforeEach(async () => {
  [now, asked, dir] = [START, [], newFolder()];
  platform = await start();
});

const phone = (n: number) => `+1415555010${n}`;
const request = (
  content: string,
  id: string,
  options: { to?: string; in?: string | null } = {},
) => ({
  contact: { phone: options.to ?? phone(1) },
  conversation: {
    ...{ direction: 'inbound', type: 'sms', agent_contact: '+15550783881' },
    ...(options.in && { id: options.in }),
  },
  message: { content, remote_id: id, timestamp: new Date(now).toISOString() },
});
const echo = (...given: Parameters<typeof request>) =>
  call<Message>(platform, 'POST', '/messages/', {
    body: request(...given),
    headers: { [ECHO_HEADER]: '1' },
  });
const question = async (...given: Parameters<typeof request>) =>
  (await create(platform, request(...given))).body;
const answered = (text: string) => waitFor(`an answer to ${text}`, () => asked.includes(text));
/** Once the agent has left it to a person. */
const left = (message: Message) =>
  waitFor('a person', async () => (await ticketOf(platform, message)).status === 'WaitingUser');

/** A conversation in which the agent has answered, a minute ago. */
async function begun(to = phone(1), id = 'wamid.1'): Promise<Message> {
  const message = await question('Where is it?', id, { to });
  await waitFor(
    'the answer',
    async () => (await ticketOf(platform, message)).status === 'WaitingContact',
  );
  now += MINUTE_MS;
  return message;
}

describe('what the shop writes on its own phone', () => {
  it('is one note on the conversation, however often it comes', async () => {
    const { conversation_id: id } = await begun();
    const first = await echo('I will look', 'wamid.e', { in: id });
    const again = await echo('I will look', 'wamid.e', { in: id });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body.id).toBe(first.body.id);
    const notes = (await messagesOf(platform, id)).filter(({ type }) => type === 'Internal');
    expect(notes).toMatchObject([{ text: 'I will look', role: 'agent', remote_id: 'wamid.e' }]);
  });

  it('silences the agent for an hour after the last one, also across a restart', async () => {
    const { conversation_id: id } = await begun();
    await echo('I will look', 'wamid.e1', { in: id });
    now += 30 * MINUTE_MS;
    await echo('Found it', 'wamid.e2', { in: id });
    now += 59 * MINUTE_MS;
    await platform.stop();
    platform = await start();
    await left(await question('Thanks, and when?', 'wamid.2', { in: id }));
    now += 2 * MINUTE_MS;
    await question('Hello?', 'wamid.3', { in: id });
    await answered('Hello?');
    expect(asked).toEqual(['Where is it?', 'Hello?']);
  });

  it('gives the customer the turn', async () => {
    const { conversation_id: id } = await begun();
    await echo('I will look', 'wamid.e1', { in: id });
    const waiting = await question('Thanks, and when?', 'wamid.2', { in: id });
    await left(waiting);
    now += MINUTE_MS;
    await echo('On Monday', 'wamid.e2', { in: id });
    expect((await ticketOf(platform, waiting)).status).toBe('WaitingContact');
  });

  it('leaves a completed ticket completed', async () => {
    const message = await begun();
    const { conversation_id: id, ticket_id: ticket } = message;
    const { version } = platform.desk.ticket(SHOP.shopId, String(ticket));
    const seen = { shopId: SHOP.shopId, id: String(ticket), version, who: 'ann' };
    await platform.desk.complete(seen);
    await echo('Glad to hear it', 'wamid.e', { in: id });
    expect((await ticketOf(platform, message)).status).toBe('Completed');
  });

  it('neither opens nor extends the 24 hours in which WhatsApp takes replies', async () => {
    const sent: string[] = [];
    platform = await start({
      dir: newFolder(),
      replies: {
        texts: new Map([
          [
            SHOP.shopId,
            {
              sendText: ({ to }) => Promise.resolve(`wamid.${sent.push(to)}`),
              findSent: () => Promise.resolve([]),
              maxChars: () => 4096,
            },
          ],
        ]),
        findTextRoute: () =>
          Promise.resolve({
            ...{ transport: 'whatsapp', ours: '+15550783881', theirs: phone(1) },
            isOptedOut: false,
          }),
      },
    });
    now -= 120 * MINUTE_MS;
    const { conversation_id: id } = (await echo('Your lamp is here', 'wamid.e')).body;
    // Written before, and delivered late.
    now -= 23 * 60 * MINUTE_MS;
    const late = request('Is it?', 'wamid.2', { in: id });
    now = START;
    await create(platform, late);
    const reply = await waitFor('the reply', async () =>
      (await messagesOf(platform, id)).find(({ status }) => status === 'FAILED'),
    );
    expect(reply.text).toBe('About: Is it?');
    expect(sent).toEqual([]);
  });

  it('begins a conversation whose ticket waits for the customer', async () => {
    const { body } = await echo('Your lamp is here', 'wamid.e');
    expect(await ticketOf(platform, body)).toMatchObject({ status: 'WaitingContact' });
    await left(await question('Great', 'wamid.2', { in: body.conversation_id }));
    expect(asked).toEqual([]);
  });

  it('is refused for a conversation that there is not', async () => {
    const { status } = await echo('Hi', 'wamid.e', { in: '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c99' });
    expect(status).toBe(404);
  });
});

describe('an automatic text of the app silences nobody', () => {
  it.each([
    [0, false],
    [10_000, false],
    [11_000, true],
  ])('%d ms after the customer wrote: a person %j', async (ms, isPerson) => {
    const { conversation_id: id } = await begun();
    const message = await question('Hi again', 'wamid.2', { in: id });
    await answered('Hi again');
    now += ms;
    await echo('We are closed today', 'wamid.e', { in: id });
    now += MINUTE_MS;
    const last = await question('A pity', 'wamid.3', { in: message.conversation_id });
    await (isPerson ? left(last) : answered('A pity'));
  });

  it('with a text that goes to three conversations in a day', async () => {
    const ids: (string | null)[] = [];
    for (const n of [1, 2, 3]) ids.push((await begun(phone(n), `wamid.${n}`)).conversation_id);
    for (const [n, id] of ids.entries()) {
      await echo('Sale! Lamps at half price', `wamid.e${n}`, { in: id, to: phone(n + 1) });
    }
    now += MINUTE_MS;
    await left(await question('Which ones?', 'wamid.7', { in: ids[1] ?? null, to: phone(2) }));
    await question('Really?', 'wamid.8', { in: ids[2] ?? null, to: phone(3) });
    await answered('Really?');
  });

  it('but pictures without words are not the same text', async () => {
    const ids: (string | null)[] = [];
    for (const n of [1, 2, 3]) ids.push((await begun(phone(n), `wamid.${n}`)).conversation_id);
    for (const [n, id] of ids.entries()) {
      await echo('(no text)\n\n[Written on your own phone]', `wamid.e${n}`, { in: id });
    }
    await left(await question('Really?', 'wamid.8', { in: ids[2] ?? null, to: phone(3) }));
  });
});
