import { afterEach, describe, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../src/channels/email/stored.ts';
import { type EmailDoor, MESSAGE, openDoor } from '../support/email-door.ts';
import { ends } from '../support/ends.ts';
import { INBOX } from '../support/gateway-config.ts';
import { anEmail, gatewaySetting } from '../support/gateway-setting.ts';
import { type PostfixRelay, startPostfixRelay, whyNoPostfix } from '../support/postfix-relay.ts';
import type { SmtpClient } from '../support/smtp-client.ts';
import { waitFor } from '../support/wait-for.ts';

const missing = whyNoPostfix();
if (missing !== undefined) {
  process.stderr.write(`\n!! SKIPPED: the tests with a real Postfix, since ${missing}\n`);
}
const describeWithPostfix = missing === undefined ? describe : describe.skip;

async function relayTo(transport: string): Promise<PostfixRelay> {
  const relay = await startPostfixRelay(transport);
  ends(() => relay.stop());
  return relay;
}

/** Hands a message to Postfix, which acknowledges it. */
async function hand(
  client: SmtpClient,
  message: string,
  recipients: readonly string[] = [INBOX],
): Promise<void> {
  await client.envelope(recipients);
  await client.say('DATA');
  client.send(message);
  expect(await client.say('\r\n.')).toMatch(/^250 /);
}

async function emptied(relay: PostfixRelay): Promise<void> {
  try {
    await waitFor("Postfix's queue to be empty", () => relay.queued().length === 0, 100);
  } catch (error) {
    const ids = relay.queued();
    const lines = relay.log().split('\n');
    const about = lines.filter((line) => ids.some((id) => line.includes(id)));
    throw new Error(`${ids.join(' ')}\n${about.slice(-30).join('\n')}`, { cause: error });
  }
}

describeWithPostfix('a real Postfix', () => {
  let door: EmailDoor | undefined;

  afterEach(async () => {
    await door?.close();
    door = undefined;
  });

  test('relays over TLS, and its queue empties', async () => {
    door = await openDoor();
    const relay = await relayTo(`smtp:[127.0.0.1]:${String(door.port)}`);
    const client = await relay.greeted();
    for (let n = 0; n < 10; n += 1) await hand(client, `${MESSAGE} ${String(n)}`);
    await hand(client, `${MESSAGE}\r\n..${'x'.repeat(900)}\r\n`.padEnd(300_000, '..\r\n...\r\n'));
    client.destroy();
    await emptied(relay);
    const entries = await door.entries();
    expect(entries).toHaveLength(11);
    for (const { meta } of entries) {
      expect(parseEmailMeta(meta)).toMatchObject({
        tls: expect.stringMatching(/^TLSv1\.3 /),
        heloName: 'relay.example',
        envelopeFrom: 'ann@example.com',
      });
    }
    expect(relay.log()).not.toMatch(/status=(?!sent)/);
  });

  test('has one answer for each recipient by LMTP', async () => {
    door = await openDoor({ lmtp: true });
    const relay = await relayTo(`lmtp:[127.0.0.1]:${String(door.port)}`);
    const client = await relay.greeted();
    const recipients = ['support@acme.example', 'hello@other.example', 'sales@acme.example'];
    await hand(client, MESSAGE, recipients);
    client.destroy();
    await emptied(relay);
    expect(await door.entries()).toHaveLength(2);
    for (const recipient of recipients) {
      expect(relay.log()).toMatch(
        new RegExp(`to=<${recipient}>.* status=sent \\(250 2\\.0\\.0 Ok`),
      );
    }
  });

  test('keeps what it has while the gateway is away: every message arrives, once', async () => {
    const { platform, start, host, ports } = await gatewaySetting();
    const relay = await relayTo(`smtp:[${host}]:${String(ports.smtp)}`);
    const gateway = await start();
    const client = await relay.greeted();
    const names = Array.from({ length: 30 }, (_, n) => `relayed-${String(n)}`);
    for (const name of names.slice(0, 15)) await hand(client, anEmail(name, name));
    await waitFor('the first ones', () => platform.messages.length > 0, 20);
    await gateway.kill();
    for (const name of names.slice(15)) await hand(client, anEmail(name, name));
    client.destroy();
    await waitFor(
      'Postfix to have been refused',
      () => relay.log().includes('status=deferred'),
      50,
    );
    await start();
    await emptied(relay);
    await waitFor('all', () => platform.messages.length >= names.length, 50);
    expect(platform.messages.map(({ remote_id }) => remote_id).toSorted()).toEqual(
      names.map((name) => `<${name}@example.com>`).toSorted(),
    );
  });
});
