import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../../src/channels/email/stored.ts';
import { ACME, type EmailDoor, MESSAGE, openDoor, OTHER, rawOf } from '../../support/email-door.ts';

let door: EmailDoor | undefined;
const open = async (): Promise<EmailDoor> => (door = await openDoor());

afterEach(async () => {
  await door?.close();
  door = undefined;
});

describe('what is stored', () => {
  test('the bytes as they came, less the dots of transparency, and what the door knows', async () => {
    const at = await open();
    const answer = await at.deliver(`${MESSAGE}\r\n..dot\r\n8-bit: \xfc\0\r\nbare\nbare\rend`);
    expect(answer).toMatch(/^250 2\.0\.0 Ok: queued as [0-9a-f-]{36}$/);
    const [entry] = await at.entries();
    expect((await rawOf(at, entry)).toString('latin1')).toBe(
      `${MESSAGE}\r\n.dot\r\n8-bit: \xfc\0\r\nbare\nbare\rend\r\n`,
    );
    expect(entry).toMatchObject({
      shopId: ACME,
      channel: 'email',
      state: 'queued',
      remoteId: '<one@example.com>',
      lane: 'ann@example.com support@acme.example',
    });
    const meta = parseEmailMeta(entry?.meta ?? {});
    expect(meta).toMatchObject({
      remoteAddress: '127.0.0.1',
      heloName: 'client.example',
      tls: false,
      trustedRelay: true,
      envelopeFrom: 'ann@example.com',
      envelopeTo: ['support@acme.example'],
      agentContact: 'support@acme.example',
      ourAddressesMatched: ['support@acme.example'],
      messageId: '<one@example.com>',
    });
    expect(meta.receivedHeader).toMatch(
      /^Received: from client\.example \(\[127\.0\.0\.1\]\)\r\n\tby mx\.acme\.example with ESMTP id \S+\r\n\tfor <support@acme\.example>;\r\n\t\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/,
    );
  });

  test('a quoted local part as it came, of sender and recipient', async () => {
    const at = await open();
    const [from, to] = ['"a \\" @ b"@example.org', '"c d"@help.acme.example'];
    expect(await at.deliver(MESSAGE, [to], from)).toMatch(/^250 2\.0\.0 /);
    const [entry] = await at.entries();
    expect(parseEmailMeta(entry?.meta ?? {})).toMatchObject({
      envelopeFrom: from,
      envelopeTo: [to],
    });
  });

  test('a local part in needless quotes as the same without them', async () => {
    const at = await open();
    expect(await at.deliver(MESSAGE, ['"support"@acme.example'])).toMatch(/^250 /);
    const [entry] = await at.entries();
    expect(parseEmailMeta(entry?.meta ?? {})).toMatchObject({
      ...{ envelopeTo: ['support@acme.example'], agentContact: 'support@acme.example' },
    });
  });

  test('a large message in a file, byte for byte, with dots at every place', async () => {
    const at = await open();
    const line = randomBytes(40).toString('base64');
    const body = `.${line}\r\n..\r\n`.repeat(20_000);
    const stuffed = body.replaceAll(/^\./gm, '..');
    expect(await at.deliver(`${MESSAGE}\r\n${stuffed}end`)).toMatch(/^250 /);
    const [entry] = await at.entries();
    expect((await rawOf(at, entry)).toString('latin1')).toBe(`${MESSAGE}\r\n${body}end\r\n`);
    expect(at.files()).toHaveLength(1);
  });

  test('a duplicate once, and it is acknowledged like the first', async () => {
    const at = await open();
    const first = await at.deliver(MESSAGE);
    const again = await at.deliver(`Received: by another way\r\nX-Spam: no\r\n${MESSAGE}`);
    expect(again).toBe(first);
    expect(await at.entries()).toHaveLength(1);
    expect(at.lines.filter(({ event }) => event === 'smtp.accepted')).toMatchObject([
      { fields: { duplicate: false } },
      { fields: { duplicate: true } },
    ]);
  });

  test('another message that claims a known Message-ID under an id of its own', async () => {
    const at = await open();
    await at.deliver(MESSAGE);
    await at.deliver(MESSAGE.replace('Hi', 'Pay here'), undefined, 'eve@example.net');
    const ids = (await at.entries()).map(({ remoteId }) => remoteId).sort();
    expect(ids[0]).toBe('<one@example.com>');
    expect(ids[1]).toMatch(/^<one@example\.com>#[0-9a-f]{12}$/);
  });

  test('one entry per shop, and for one shop one per inbox where it wants that', async () => {
    const at = await open();
    const recipients = [
      'sales@acme.example',
      'support@acme.example',
      'hello@other.example',
      'team@other.example',
    ];
    await at.deliver(MESSAGE, recipients);
    const found = (await at.entries()).map(({ shopId, meta }) => [
      shopId,
      parseEmailMeta(meta).agentContact,
    ]);
    expect(found.sort()).toEqual([
      [ACME, 'support@acme.example'],
      [OTHER, 'hello@other.example'],
      [OTHER, 'team@other.example'],
    ]);
  });

  test('one entry when the sender delivers each recipient in a transaction of its own', async () => {
    const at = await open();
    await at.deliver(MESSAGE, ['sales@acme.example']);
    await at.deliver(MESSAGE, ['support@acme.example']);
    expect(await at.entries()).toHaveLength(1);
  });

  test('postmaster mail and mail with two From lines, held', async () => {
    const at = await open();
    await at.deliver(MESSAGE, ['postmaster@acme.example']);
    await at.deliver(`From: eve@example.net\r\n${MESSAGE}`);
    const held = (await at.entries()).map(({ state, reason }) => [state, reason?.code]);
    expect(held.sort()).toEqual([
      ['held', 'postmaster'],
      ['held', 'several_from'],
    ]);
  });

  test('no address in any line of the log', async () => {
    const at = await open();
    await at.deliver(MESSAGE);
    await at.deliver(MESSAGE, ['nobody@elsewhere.example']);
    expect(JSON.stringify(at.lines)).not.toMatch(/@|Hello|127\.0\.0/);
  });
});
