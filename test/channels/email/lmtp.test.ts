import { afterEach, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../../src/channels/email/stored.ts';
import { lmtpReplies } from '../../../src/channels/email/smtp-transaction.ts';
import { SpoolFull } from '../../../src/spool/errors.ts';
import { asEntryId } from '../../../src/domain/ids.ts';
import {
  type DoorChange,
  type EmailDoor,
  MESSAGE,
  openDoor,
  OTHER,
} from '../../support/email-door.ts';
import { converse, type SmtpClient } from '../../support/smtp-client.ts';

let door: EmailDoor | undefined;

afterEach(async () => {
  await door?.close();
  door = undefined;
});

const open = async (change: DoorChange = {}): Promise<EmailDoor> =>
  (door = await openDoor({ ...change, lmtp: true }));

/** Sends a message and reads as many answers to its final dot as are expected, and one more. */
async function deliver(
  client: SmtpClient,
  recipients: readonly string[],
  message = MESSAGE,
): Promise<readonly string[]> {
  await client.say('MAIL FROM:<ann@example.com>');
  let accepted = 0;
  for (const recipient of recipients) {
    if ((await client.say(`RCPT TO:<${recipient}>`)).startsWith('250')) accepted += 1;
  }
  await client.say('DATA');
  client.send(`${message}\r\n.\r\nNOOP\r\n`);
  const answers: string[] = [];
  for (let count = 0; count <= accepted; count += 1) answers.push(await client.reply());
  expect(answers.pop()).toMatch(/^250 2\.0\.0 OK/);
  return answers;
}

async function greeted(at: EmailDoor): Promise<SmtpClient> {
  const client = await at.greeted();
  await client.say('LHLO mta.example');
  return client;
}

test('greets as LMTP and knows LHLO only (RFC 2033 §4.1)', async () => {
  const at = await open();
  const client = await at.connect();
  await converse(
    client,
    `s: 220 mx.acme.example LMTP
     c: EHLO mta.example
     s: 500
     c: HELO mta.example
     s: 500
     c: MAIL FROM:<ann@example.com>
     s: 503
     c: LHLO mta.example
     s: 250-mx.acme.example
     c: MAIL FROM:<ann@example.com>
     s: 250
     c: DATA
     s: 503`,
  );
  client.destroy();
});

test('answers the final dot once for each recipient that was accepted, in their order', async () => {
  const at = await open();
  const client = await greeted(at);
  const answers = await deliver(client, [
    'hello@other.example',
    'nobody@acme.example',
    'support@acme.example',
  ]);
  client.destroy();
  const ids = answers.map((each) => /^250 2\.0\.0 Ok: queued as (\S+)$/.exec(each)?.[1]);
  const entries = await at.entries();
  const ofOther = entries.find(({ shopId }) => shopId === OTHER);
  expect(entries).toHaveLength(2);
  expect(ids[0]).toBe(ofOther?.id);
  expect(new Set(ids)).toEqual(new Set(entries.map(({ id }) => id)));
  expect(parseEmailMeta(ofOther?.meta ?? {}).receivedHeader).toContain(' with LMTP id ');
});

test('answers a recipient that was named twice twice, and makes one entry', async () => {
  const at = await open();
  const client = await greeted(at);
  const answers = await deliver(client, [
    'support@acme.example',
    'Support@ACME.example',
    'support@acme.example',
  ]);
  expect(answers).toHaveLength(3);
  expect(new Set(answers).size).toBe(1);
  expect(await at.entries()).toHaveLength(1);
  // A second transaction starts its own list, and a duplicate is answered like the first.
  expect(await deliver(client, ['support@acme.example'])).toEqual([answers[0]]);
  expect(await at.entries()).toHaveLength(1);
  client.destroy();
});

test('gives each recipient the bad news too, as one error of the client', async () => {
  const at = await open({ maxErrors: 2 });
  const client = await greeted(at);
  const loops = `${'Received: from here by there\r\n'.repeat(51)}${MESSAGE}`;
  const recipients = ['support@acme.example', 'sales@acme.example', 'hello@other.example'];
  const answers = await deliver(client, recipients, loops);
  expect(answers).toHaveLength(3);
  for (const answer of answers) expect(answer).toMatch(/^554 5\.4\.6 /);
  expect(await deliver(client, recipients)).toHaveLength(3);
  client.destroy();
});

test('tells every recipient of a full disk', async () => {
  const full = () => Promise.reject(new SpoolFull('full'));
  const unused = () => {
    throw new Error('unused');
  };
  const at = await open({
    parts: () => ({
      intake: {
        assertSpace: () => Promise.resolve(),
        accept: full,
        acceptChat: full,
        entryFor: unused,
      },
    }),
  });
  const client = await greeted(at);
  const answers = await deliver(client, ['support@acme.example', 'hello@other.example']);
  expect(answers).toHaveLength(2);
  for (const answer of answers) expect(answer).toMatch(/^452 4\.3\.1 /);
  client.destroy();
});

test('has an end to recipients that are named again and again', async () => {
  const at = await open({ maxRecipients: 3 });
  const client = await greeted(at);
  await client.say('MAIL FROM:<ann@example.com>');
  const answers = [];
  for (let count = 0; count < 5; count += 1) {
    answers.push((await client.say('RCPT TO:<support@acme.example>')).slice(0, 9));
  }
  expect(answers).toEqual(['250 2.1.5', '250 2.1.5', '250 2.1.5', '452 4.5.3', '452 4.5.3']);
  client.destroy();
});

test('a recipient that no entry stands for is to be tried again', () => {
  const taken = [{ id: asEntryId('e1'), duplicate: false, recipients: ['a@acme.example'] }];
  const replies = lmtpReplies(['a@ACME.example', 'b@acme.example'], taken);
  expect(replies[0]).toBe('2.0.0 Ok: queued as e1');
  expect(replies[1]).toMatchObject({ responseCode: 451 });
});
