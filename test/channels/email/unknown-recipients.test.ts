import type { TimerOptions } from 'node:timers';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { SMTPServerSession } from 'smtp-server';
import { UnknownRecipients } from '../../../src/channels/email/unknown-recipients.ts';
import { type DoorChange, type EmailDoor, openDoor } from '../../support/email-door.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const OPTIONS = { free: 20, perMs: 600_000, waitMs: 3000, maxWaitMs: 30_000 };

/** Waits that last until the test ends them, or their session. */
class HeldWaits {
  readonly waits: { readonly ms: number; readonly end: () => void }[] = [];
  open = 0;

  readonly delay = async <T>(ms = 0, value?: T, { signal }: TimerOptions = {}) => {
    this.open += 1;
    await new Promise<void>((resolve) => {
      this.waits.push({ ms, end: resolve });
      signal?.addEventListener('abort', () => resolve());
    });
    this.open -= 1;
    signal?.throwIfAborted();
    // The type of `setTimeout` of node:timers/promises.
    return value as T;
  };

  endAll(): void {
    for (const { end } of this.waits) end();
  }
}

// Of a session, only the address and the identity are used.
const sessionOf = (remoteAddress: string) => ({ remoteAddress }) as SMTPServerSession;

describe('which unknown recipients wait', () => {
  /** How long each of these guesses waits: the address that names it, and when. */
  async function waitsOf(guesses: readonly (readonly [string, number])[]): Promise<number[]> {
    let waited = 0;
    const unknown = new UnknownRecipients(OPTIONS, 1000, <T>(ms = 0, value?: T) => {
      waited += ms;
      return Promise.resolve(value as T);
    });
    const each: number[] = [];
    for (const [address, at] of guesses) {
      waited = 0;
      await unknown.slowDown(sessionOf(address), at);
      each.push(waited);
    }
    return each;
  }
  const times = (count: number, address: string, at = 0) =>
    Array.from({ length: count }, () => [address, at] as const);

  test.each<[string, readonly (readonly [string, number])[], readonly number[]]>([
    ['the twenty-first of an address', times(22, '203.0.113.7'), [3000, 3000]],
    ['not the twentieth', times(20, '203.0.113.7'), [0, 0]],
    [
      'that of another address of the same /24',
      [...times(20, '203.0.113.7'), ...times(2, '203.0.113.200')],
      [3000, 3000],
    ],
    ['not of another /24', [...times(20, '203.0.113.7'), ...times(2, '203.0.114.7')], [0, 0]],
    [
      'that of another /64 of the same /48',
      [...times(20, '2001:db8:1:2::7'), ...times(2, '2001:db8:1:ffff::1')],
      [3000, 3000],
    ],
    [
      'not of another /48',
      [...times(20, '2001:db8:1:2::7'), ...times(2, '2001:db8:2:2::7')],
      [0, 0],
    ],
    [
      'while the twenty before it are within ten minutes',
      [...times(10, '203.0.113.7'), ...times(11, '203.0.113.7', 599_999)],
      [0, 3000],
    ],
    [
      'not ten minutes after the first of them',
      [...times(10, '203.0.113.7'), ...times(11, '203.0.113.7', 600_000)],
      [0, 0],
    ],
    [
      'who goes on guessing, even slowly',
      [...times(20, '203.0.113.7'), ...times(30, '203.0.113.7', 300_000), ['203.0.113.7', 899_999]],
      [3000, 3000],
    ],
  ])('%s', async (_, guesses, last) => {
    expect((await waitsOf(guesses)).slice(-2)).toEqual(last);
  });

  test('of 20,000 networks, the newest 10,000 are remembered', async () => {
    const networks = Array.from({ length: 20_000 }, (_, n) => `10.${n >> 8}.${n & 255}.1`);
    const unknown = new UnknownRecipients({ ...OPTIONS, free: 1 }, 1000, () => {
      throw new Error('remembered');
    });
    for (const network of networks) await unknown.slowDown(sessionOf(network), 0);
    const again = (network = '') => unknown.slowDown(sessionOf(network), 1);
    await expect(again(networks.at(-10_000))).rejects.toThrow('remembered');
    await expect(again(networks.at(-10_001))).resolves.toBeUndefined();
  });
});

describe('the door', () => {
  let door: EmailDoor | undefined;
  const clients: SmtpClient[] = [];
  let held = new HeldWaits();

  afterEach(async () => {
    held.endAll();
    for (const client of clients.splice(0)) client.destroy();
    await door?.close();
    door = undefined;
    held = new HeldWaits();
  });

  const open = async (change: DoorChange = {}): Promise<EmailDoor> =>
    (door = await openDoor({
      ...{ trustedRelays: [], maxConnectionsPerIp: 1000, parts: () => ({ delay: held.delay }) },
      ...change,
    }));

  /** A client that has named a sender. */
  async function sender(at: EmailDoor, address = '127.0.1.1'): Promise<SmtpClient> {
    const client = await SmtpClient.connect(at.port, address);
    clients.push(client);
    await client.reply();
    await client.envelope([]);
    return client;
  }

  const guess = (client: SmtpClient, n = 0) => client.say(`RCPT TO:<guess${n}@acme.example>`);

  /** Uses up what is free, and ends that session. */
  async function useUp(at: EmailDoor): Promise<void> {
    const client = await sender(at);
    for (let n = 0; n < 20; n += 1) expect(await guess(client, n)).toMatch(/^550 5\.1\.1 /);
    client.destroy();
    await client.closed;
  }

  test('lets the twenty-first wait, and no known recipient', async () => {
    const at = await open();
    await useUp(at);
    expect(held.waits).toEqual([]);
    const client = await sender(at, '127.0.1.9');
    expect(await client.say('RCPT TO:<support@acme.example>')).toMatch(/^250 /);
    const reply = guess(client);
    await waitFor('a wait', () => held.waits.length === 1);
    expect(held.waits[0]?.ms).toBe(3000);
    held.endAll();
    expect(await reply).toMatch(/^550 5\.1\.1 /);
    expect(await client.say('RCPT TO:<sales@acme.example>')).toMatch(/^250 /);
    expect(await client.say('RCPT TO:<ann@elsewhere.example>')).toMatch(/^550 5\.7\.1 /);
    expect(held.waits).toHaveLength(1);
  });

  test('never lets a trusted relay wait', async () => {
    const at = await open({ trustedRelays: ['127.0.1.0/24'], maxErrors: 100 });
    const client = await sender(at);
    for (let n = 0; n < 50; n += 1) expect(await guess(client, n)).toMatch(/^550 5\.1\.1 /);
    expect(held.waits).toEqual([]);
  });

  test('a hundred pipelined guesses wait one after the other, and end after 30 s of waits', async () => {
    const at = await open();
    await useUp(at);
    const client = await sender(at);
    client.send(
      Array.from({ length: 100 }, (_, n) => `RCPT TO:<guess${n}@acme.example>\r\n`).join(''),
    );
    for (let n = 1; n <= 10; n += 1) {
      await waitFor('the next wait', () => held.waits.length === n);
      expect(held.open).toBe(1);
      held.endAll();
      expect(await client.reply()).toMatch(/^550 5\.1\.1 /);
    }
    expect(await client.reply()).toMatch(/^421 4\.7\.0 /);
    expect(await client.reply()).toBe('');
    await client.closed;
    expect(held.waits).toHaveLength(10);
  });

  test('a tenth of all connections waits at once; who leaves makes room', async () => {
    const at = await open({ maxConnections: 20, maxErrors: 1000 });
    await useUp(at);
    const [one, two, three] = [await sender(at), await sender(at), await sender(at)];
    void guess(one);
    void guess(two);
    await waitFor('two waits', () => held.open === 2);
    expect(await guess(three)).toMatch(/^450 4\.7\.1 /);
    expect(await three.say('RCPT TO:<support@acme.example>')).toMatch(/^250 /);
    one.reset();
    await waitFor('the wait to end', () => held.open === 1);
    const reply = guess(three);
    await waitFor('the next wait', () => held.open === 2);
    held.endAll();
    expect(await reply).toMatch(/^550 5\.1\.1 /);
  });

  test('a stop does not wait for it', async () => {
    const at = await open();
    await useUp(at);
    const client = await sender(at);
    client.send('RCPT TO:<guess@acme.example>\r\n');
    await waitFor('a wait', () => held.open === 1);
    const stopped = at.stop(60_000);
    expect(await client.reply()).toMatch(/^421 4\.3\.2 /);
    client.end();
    await stopped;
    await waitFor('the wait to end', () => held.open === 0);
    expect(await client.reply()).toBe('');
  });
});
