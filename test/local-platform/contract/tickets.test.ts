import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from '@jest/globals';
import type { Conversation, Message, Page, Ticket } from '../../../src/platform-api/resources.ts';
import { anEmail, newFolder, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-04-30T12:00:00.000Z');

/** Three tickets: 40 days, 30 days and one day old. The last has all that a ticket can have. */
async function start() {
  const dir = newFolder();
  let now = NOW;
  const platform = await startPlatform({ dir, clock: () => now });
  const contract = await Contract.of(platform);
  const messages: Message[] = [];
  for (const days of [40, 30, 1]) {
    now = NOW - days * DAY;
    const { body } = await contract.call<Message>('createMessage', '', { body: anEmail() });
    messages.push(body);
  }
  now = NOW;
  const [old, month, fresh] = messages.map((message) => String(message.ticket_id));
  const set = { priority: 7, assignee_id: randomUUID(), label_id: randomUUID() };
  const db = new Database(join(dir, 'platform.sqlite'));
  db.prepare(
    `UPDATE tickets SET priority = @priority, assignee_id = @assignee_id, label_id = @label_id,
       sublabel_id = @label_id, completed_at = last_message_at WHERE id = @id`,
  ).run({ ...set, id: fresh });
  db.close();
  return { contract, messages, set, ids: { old, month, fresh } };
}

const query = (filters: Record<string, string>) => `?${new URLSearchParams(filters).toString()}`;

describe('listTickets and countTickets', () => {
  it('answer alike to each filter, and to two', async () => {
    const { contract, messages, set, ids } = await start();
    const { old, month, fresh } = ids;
    const all = [fresh, month, old];
    const [a, b] = messages.map(({ conversation_id: id }) => String(id));
    const { body: ticket } = await contract.call<Ticket>('getTicket', String(fresh));
    const cases: [Record<string, string>, (string | undefined)[]][] = [
      [{}, all],
      [{ id: String(old) }, [old]],
      [{ id: String(old).toUpperCase() }, [old]],
      [{ id: randomUUID() }, []],
      [{ agent_id: String(ticket.agent_id) }, all],
      [{ agent_id: randomUUID() }, []],
      [{ assignee_id: set.assignee_id }, [fresh]],
      [{ assignee_id: set.label_id }, []],
      [{ conversation_id: String(a) }, [old]],
      [{ conversation_id__in: `${String(a)},${String(b)}` }, [month, old]],
      [{ label_id: set.label_id }, [fresh]],
      [{ priority: '7' }, [fresh]],
      [{ priority: '0' }, [month, old]],
      [{ priority: '-1' }, []],
      [{ priority__in: '7,0' }, all],
      [{ priority__in: '7, 8' }, [fresh]],
      [{ created_at__range: 'relative:-7d,' }, [fresh]],
      [{ created_at__range: 'relative:-30d,' }, [fresh, month]],
      [{ created_at__range: '2026-03-21T00:00:00Z,2026-03-22T00:00:00+00:00' }, [old]],
      [{ created_at__range: '2026-03-31T12:00:00Z,2026-04-30T12:00:00Z' }, [fresh, month]],
      [{ priority: '7', created_at__range: 'relative:-2d,' }, [fresh]],
      [{ priority: '0', created_at__range: 'relative:-2d,' }, []],
      [{ conversation_id: String(a), priority__in: '0,1' }, [old]],
    ];
    for (const [filters, expected] of cases) {
      const list = await contract.call<Page<Ticket>>('listTickets', query(filters));
      expect([filters, list.status, list.body.results.map(({ id }) => id)]).toEqual([
        filters,
        200,
        expected,
      ]);
      const count = await contract.call('countTickets', query(filters));
      expect([filters, count.body]).toEqual([filters, { count: expected.length }]);
    }
    const page = await contract.call<Page<Ticket>>('listTickets', query({ limit: '2' }));
    expect(page.body.results.map(({ id }) => id)).toEqual([fresh, month]);
    const next = new URL(String(page.body.next));
    expect((await contract.call<Page<Ticket>>('listTickets', next.search)).body.results).toEqual([
      expect.objectContaining({ id: old }),
    ]);
    // The count is of all, whatever a page would hold.
    const count = await contract.call('countTickets', query({ limit: '1', cursor: 'x' }));
    expect(count.body).toEqual({ count: 3 });
  });

  it('say what is wrong with a filter', async () => {
    const contract = await Contract.of(await startPlatform({ clock: () => NOW }));
    const relative = 'the maximum window is 30 days';
    const cases: [Record<string, string>, Record<string, string>][] = [
      ...['id', 'agent_id', 'assignee_id', 'conversation_id', 'label_id'].map(
        (name): [Record<string, string>, Record<string, string>] => [
          { [name]: 'x' },
          { [name]: 'expected a uuid' },
        ],
      ),
      [{ conversation_id__in: 'x' }, { 'conversation_id__in.0': 'expected a uuid' }],
      [{ priority: 'high' }, { priority: 'expected an integer' }],
      [{ priority: '1.5' }, { priority: 'expected an integer' }],
      [{ priority__in: '1,,2' }, { 'priority__in.1': 'expected an integer' }],
      [{ created_at__range: 'relative:-31d,' }, { created_at__range: relative }],
      [
        { created_at__range: '2026-03-31T11:59:59.999Z,2026-04-30T12:00:00Z' },
        { created_at__range: relative },
      ],
      [{ created_at__range: 'relative:-7d' }, { created_at__range: expect.any(String) as never }],
      [{ created_at__range: 'yesterday,' }, { created_at__range: expect.any(String) as never }],
    ];
    for (const operation of ['listTickets', 'countTickets']) {
      for (const [filters, fields] of cases) {
        const error = await contract.refused(operation, query(filters), {}, 400);
        expect([filters, error.fields]).toEqual([filters, fields]);
      }
    }
  });
});

describe('getTicket and getConversation', () => {
  it('answer with every field', async () => {
    const { contract, messages, set, ids } = await start();
    const { body } = await contract.call<Ticket>('getTicket', String(ids.fresh).toUpperCase());
    const message = messages[2];
    const at = '2026-04-29T12:00:00.000Z';
    expect(body).toEqual({
      id: ids.fresh,
      number: 3,
      name: 'Where is my order?',
      status: 'New',
      agent_id: expect.any(String),
      ...set,
      contact_id: message?.contact_id,
      conversation_id: message?.conversation_id,
      message_id: message?.id,
      sublabel_id: set.label_id,
      completed_at: at,
      last_message_at: at,
      last_message_content: 'Where is my order?',
      is_test: false,
      remote_id: null,
      remote_platform: null,
      created_at: at,
      updated_at: at,
    });
    const conversation = await contract.call<Conversation>(
      'getConversation',
      String(message?.conversation_id).toUpperCase(),
    );
    expect(conversation.body).toEqual({
      id: message?.conversation_id,
      type: 'email',
      direction: 'inbound',
      status: 'new',
      agent_id: body.agent_id,
      contact_id: message?.contact_id,
      user_id: null,
      is_test: false,
      remote_id: null,
      remote_platform: null,
      created_at: at,
      updated_at: at,
    });
  });

  it.each(['getTicket', 'getConversation'])(
    '%s is 404 for what is not there',
    async (operation) => {
      const contract = await Contract.of(await startPlatform());
      for (const id of [randomUUID(), 'counts']) {
        expect((await contract.refused(operation, id, {}, 404)).code).toBe('not_found');
      }
    },
  );
});
