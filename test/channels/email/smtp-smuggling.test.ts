import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DotScanner } from '../../../src/channels/email/smtp-parser.ts';
import { type EmailDoor, MESSAGE, openDoor, rawOf } from '../../support/email-door.ts';
import type { SmtpClient } from '../../support/smtp-client.ts';

/** What some servers take for the end of data, and what looks like it (CVE-2023-51764). */
const ALMOST_THE_END = [
  ...['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r.\r\n', '\r\n.\r', '\n.\r', '\r.\n'],
  ...['\r\n\0.\r\n', '\r\n.\0\r\n', '\r\n.\r\0\n', '\r\n\0.\0\r\n', '\r\r\n.\n', '\n\n.\n\n'],
  ...['\r\n..\r\n', '\r\n. \r\n', '\r\n.\r\r\n', '\n\r.\n\r'],
];
const FIRST_LINES = [
  '..',
  '..\r\nx',
  '...',
  '.x',
  '\n.',
  '\r.',
  '\n',
  '.\n',
  '.\r',
  '.\r\r\n',
  '\0.',
];
const SMUGGLED = 'MAIL FROM:<eve@example.net>\r\nRCPT TO:<sales@acme.example>\r\nDATA\r\nEvil';
const THE_END = '\r\n.\r\n';

const shown = (bytes: string): string => JSON.stringify(bytes);

/** What a message is after its dots are taken out (RFC 5321 §4.5.2), by the rule and nothing else. */
function unstuffed(message: string): string {
  return message.replace(/(^|\r?\n)\.(?=\.)/g, '$1');
}

describe('the end of data', () => {
  let door: EmailDoor;
  let client: SmtpClient;

  beforeAll(async () => {
    door = await openDoor({ messageRate: { messages: 1e6, perMs: 60_000 } });
    client = await door.greeted();
    client.socket.setNoDelay(true);
    await client.say('EHLO client.example');
  });

  afterAll(async () => {
    client.destroy();
    await door.close();
  });

  /** One message whose bytes come in two packets; its answer and that of a NOOP after it. */
  async function send(message: string, split: number): Promise<void> {
    await client.say('MAIL FROM:<ann@example.com>');
    await client.say('RCPT TO:<support@acme.example>');
    expect(await client.say('DATA')).toMatch(/^354 /);
    const bytes = `${message}${THE_END}`;
    client.send(bytes.slice(0, split));
    // Its own turn, so that the second part is a packet of its own.
    await new Promise((resolve) => setImmediate(resolve));
    client.send(`${bytes.slice(split)}NOOP\r\n`);
    expect(await client.reply()).toMatch(/^250 2\.0\.0 Ok: queued as/);
    expect(await client.reply()).toMatch(/^250 2\.0\.0 OK/);
  }

  test.each(ALMOST_THE_END.map((almost) => [shown(almost), almost]))(
    'is not %s, wherever the packets are split',
    async (name, almost) => {
      const head = `Subject: ${name}\r\n\r\nHi`;
      const message = `${head}${almost}${SMUGGLED}`;
      const before = (await door.entries()).length;
      // Every place from the last byte of the text to the first of what would be a command.
      for (let split = head.length - 1; split <= head.length + almost.length + 1; split += 1) {
        await send(message, split);
      }
      // One entry for all, since they are one message.
      const entries = await door.entries();
      expect(entries).toHaveLength(before + 1);
      const raws = await Promise.all(entries.map((entry) => rawOf(door, entry)));
      const own = raws.find((raw) => raw.toString('latin1').startsWith(`Subject: ${name}\r\n`));
      expect(own?.toString('latin1').trimEnd()).toBe(unstuffed(message));
      expect(entries.every(({ meta }) => !JSON.stringify(meta).includes('eve@example.net'))).toBe(
        true,
      );
    },
  );
});

describe('the scan for the end of data', () => {
  const messages = [...ALMOST_THE_END.map((almost) => `Hi${almost}${SMUGGLED}`)].concat(
    FIRST_LINES.map((line) => `${line}${SMUGGLED}`),
  );

  /** All splits into two and three chunks would be many: two, and one byte at a time. */
  function scan(chunks: readonly string[]): { content: string; rest: string | undefined } {
    const scanner = new DotScanner();
    let content = '';
    for (const [index, chunk] of chunks.entries()) {
      const scanned = scanner.scan(Buffer.from(chunk, 'latin1'));
      content += scanned.content.toString('latin1');
      if (scanned.rest !== undefined) {
        const after = chunks.slice(index + 1).join('');
        return { content, rest: scanned.rest.toString('latin1') + after };
      }
    }
    return { content, rest: undefined };
  }

  test.each(messages.map((message) => [shown(message.slice(0, 12)), message]))(
    'finds in %s only the real one, at every split',
    (_, message) => {
      const bytes = `${message}${THE_END}NEXT`;
      const expected = { content: `${unstuffed(message)}\r\n`, rest: 'NEXT' };
      for (let split = 0; split <= bytes.length; split += 1) {
        expect(scan([bytes.slice(0, split), bytes.slice(split)])).toEqual(expected);
      }
      expect(scan(Array.from(bytes))).toEqual(expected);
    },
  );

  test('a dot alone as the first line ends an empty message', () => {
    for (let split = 0; split <= 3; split += 1) {
      const bytes = '.\r\nNEXT';
      expect(scan([bytes.slice(0, split), bytes.slice(split)])).toEqual({
        content: '',
        rest: 'NEXT',
      });
    }
  });
});

describe('STARTTLS', () => {
  test.each([
    'EHLO evil.example\r\n',
    'EHLO evil.example\r\nMAIL FROM:<eve@example.net>\r\nRCPT TO:<support@acme.example>\r\n',
    'MAIL FROM:<eve@example.net>\r\nRCPT TO:<support@acme.example>\r\nDATA\r\nEvil\r\n.\r\n',
    'NO',
  ])('drops the commands that are pipelined after it (CVE-2011-0411): %j', async (pipelined) => {
    const door = await openDoor();
    try {
      const client = await door.greeted();
      await client.say('EHLO client.example');
      client.send(`STARTTLS\r\n${pipelined}`);
      expect(await client.reply()).toMatch(/^220 /);
      await client.startTls();
      // Nothing of before: neither an answer that waits, nor half a command, nor an envelope.
      expect(await client.say('NOOP')).toMatch(/^250 2\.0\.0 OK/);
      expect(await client.say('RCPT TO:<support@acme.example>')).toMatch(/^503 /);
      await client.envelope(['support@acme.example']);
      await client.say('DATA');
      client.send(MESSAGE);
      expect(await client.say('\r\n.')).toMatch(/^250 2\.0\.0 /);
      client.destroy();
      const entries = await door.entries();
      expect(entries).toHaveLength(1);
      expect(JSON.stringify(entries[0]?.meta)).not.toContain('eve@example.net');
    } finally {
      await door.close();
    }
  });
});

describe('BDAT, which is not offered', () => {
  const transaction = `MAIL FROM:<eve@example.net>\r\nRCPT TO:<sales@acme.example>\r\nDATA\r\nEvil${THE_END}`;

  test.each(['BDAT 86 LAST', 'bdat 86', 'BDAT\t86 LAST'])(
    'ends the session before its payload is read as commands (RFC 3030): %j',
    async (command) => {
      const door = await openDoor();
      try {
        const client = await door.greeted();
        await client.envelope(['support@acme.example']);
        client.send(`${command}\r\n${transaction}`);
        expect(await client.reply()).toMatch(/^502 5\.5\.1 /);
        expect(await client.reply()).toBe('');
        await client.closed;
        await door.stop();
        expect(await door.entries()).toHaveLength(0);
      } finally {
        await door.close();
      }
    },
  );
});
