import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from '@jest/globals';
import type { Contact, Message, Page } from '../../../src/platform-api/resources.ts';
import { anEmail, newFolder, SHOP, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

/** Three contacts: a company, an archived child of it, and one who came by telephone. */
async function start() {
  const dir = newFolder();
  const contract = await Contract.of(await startPlatform({ dir }));
  const create = async (body: unknown) =>
    String((await contract.call<Message>('createMessage', '', { body })).body.contact_id);
  const company = await create(anEmail({ contact: { email: 'office@acme.example' } }));
  const child = await create(anEmail({ contact: { email: 'bo@acme.example', name: 'Bo' } }));
  const caller = await create({
    contact: { phone: '+15550002222' },
    conversation: { direction: 'inbound', type: 'sms', agent_contact: '+15550001111' },
    message: { content: 'Hi' },
  });
  const db = new Database(join(dir, 'platform.sqlite'));
  db.prepare(`UPDATE contacts SET parent_contact_id = ?, is_archived = 1 WHERE id = ?`).run(
    company,
    child,
  );
  db.prepare(`UPDATE contacts SET remote_platform = 'crm', remote_id = '17' WHERE id = ?`).run(
    company,
  );
  db.close();
  return { contract, company, child, caller };
}

const query = (filters: Record<string, string>) => `?${new URLSearchParams(filters).toString()}`;

describe('listContacts', () => {
  it('answers to each filter, and to two', async () => {
    const { contract, company, child, caller } = await start();
    const all = [caller, child, company];
    const cases: [Record<string, string>, string[]][] = [
      [{}, all],
      [{ id: child }, [child]],
      [{ id: child.toUpperCase() }, [child]],
      [{ id__in: `${company},${caller}` }, [caller, company]],
      [{ id__in: `${company.toUpperCase()},${randomUUID()}` }, [company]],
      [{ email: 'office@acme.example' }, [company]],
      [{ email: 'OFFICE@Acme.Example' }, [company]],
      [{ email: 'nobody@acme.example' }, []],
      [{ phone: '+15550002222' }, [caller]],
      [{ phone: '+15550009999' }, []],
      [{ is_archived: 'true' }, [child]],
      [{ is_archived: 'false' }, [caller, company]],
      [{ parent_contact_id: company }, [child]],
      [{ parent_contact_id: child }, []],
      [{ parent_contact_id__in: `${company},${child}` }, [child]],
      [{ parent_contact_id__isnull: 'true' }, [caller, company]],
      [{ parent_contact_id__isnull: 'false' }, [child]],
      [{ remote_platform: 'crm' }, [company]],
      [{ remote_platform: 'erp' }, []],
      [{ remote_platform__in: 'erp,crm' }, [company]],
      [{ is_archived: 'false', parent_contact_id__isnull: 'true' }, [caller, company]],
      [{ is_archived: 'true', email: 'office@acme.example' }, []],
      [{ is_archived: 'true', parent_contact_id: company }, [child]],
    ];
    for (const [filters, expected] of cases) {
      const { status, body } = await contract.call<Page<Contact>>('listContacts', query(filters));
      expect([filters, status, body.results.map(({ id }) => id)]).toEqual([filters, 200, expected]);
    }
  });

  it('says what is wrong with a filter', async () => {
    const contract = await Contract.of(await startPlatform());
    const cases: [Record<string, string>, Record<string, string>][] = [
      [{ id: 'x' }, { id: 'expected a uuid' }],
      [{ id__in: `${SHOP.shopId},x` }, { 'id__in.1': 'expected a uuid' }],
      [{ email: '' }, { email: 'must not be empty' }],
      [{ phone: '' }, { phone: 'must not be empty' }],
      [{ is_archived: 'yes' }, { is_archived: 'expected true or false' }],
      [{ parent_contact_id: 'x' }, { parent_contact_id: 'expected a uuid' }],
      [{ parent_contact_id__in: '' }, { 'parent_contact_id__in.0': 'expected a uuid' }],
      [{ parent_contact_id__isnull: '1' }, { parent_contact_id__isnull: 'expected true or false' }],
      [{ remote_platform: '' }, { remote_platform: 'must not be empty' }],
      [{ remote_platform__in: 'a,' }, { 'remote_platform__in.1': 'must not be empty' }],
    ];
    for (const [filters, fields] of cases) {
      const error = await contract.refused('listContacts', query(filters), {}, 400);
      expect([filters, error.fields]).toEqual([filters, fields]);
    }
  });
});

describe('getContact', () => {
  it('answers with every field', async () => {
    const { contract, company, child } = await start();
    const { status, body } = await contract.call<Contact>('getContact', child.toUpperCase());
    expect([status, body]).toEqual([
      200,
      {
        id: child,
        name: 'Bo',
        display_name: 'Bo',
        email: 'bo@acme.example',
        phone: null,
        parent_contact_id: company,
        is_archived: true,
        is_test: false,
        last_activity_at: expect.any(String),
        remote_id: null,
        remote_platform: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
  });

  it('is 404 for an unknown id', async () => {
    const contract = await Contract.of(await startPlatform());
    for (const id of [randomUUID(), 'ann@example.com']) {
      expect((await contract.refused('getContact', id, {}, 404)).code).toBe('not_found');
    }
  });
});
