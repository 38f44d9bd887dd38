import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { gatewaySetting, sendEmail } from '../support/gateway-setting.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  isComplete,
  readTrace,
  straceInto,
  type SystemCall,
  targetOf,
  whyNoStrace,
} from './system-calls.ts';

const why = whyNoStrace();
if (why !== undefined) {
  console.error(`!! SKIPPED: that an fsync returns before each acknowledgement: ${why}`);
}

const isSync = ({ name }: SystemCall): boolean => name === 'fsync' || name === 'fdatasync';
const isWrite = ({ name }: SystemCall): boolean =>
  /^(?:p?writev?(?:64)?|send(?:to|msg))$/.test(name);
const isSocket = (call: SystemCall): boolean => targetOf(call).startsWith('TCP');
const isLog = (call: SystemCall): boolean => targetOf(call).endsWith('/spool.db-wal');

/** What happened on the way from a message to its acknowledgement, as the kernel saw it. */
class Trace {
  readonly #calls: readonly SystemCall[];

  constructor(calls: readonly SystemCall[]) {
    this.#calls = calls;
  }

  /** The one write to a socket that says so. */
  acknowledgement(text: string): SystemCall {
    const found = this.#calls.filter(
      (call) => isWrite(call) && isSocket(call) && call.args.includes(text),
    );
    expect(found).toHaveLength(1);
    const [call] = found;
    if (call === undefined) throw new Error('no acknowledgement');
    expect(call.result).toBeGreaterThan(0);
    return call;
  }

  /**
   * The log's pages that hold this were written, the log was synced with success, the log was not
   * touched again, and only then the acknowledgement was written.
   * @returns the first of those writes
   */
  expectDurable(marker: string, acknowledgement: SystemCall): SystemCall {
    const pages = this.#calls.filter(
      (call) =>
        isWrite(call) &&
        isLog(call) &&
        call.args.includes(marker) &&
        call.began < acknowledgement.began,
    );
    const [first, last] = [pages[0], pages.at(-1)];
    if (first === undefined || last === undefined) throw new Error(`${marker} is in no page`);
    for (const page of pages) expect(page.result).toBeGreaterThan(0);
    const sync = this.firstAfter(last, (call) => isSync(call) && isLog(call));
    expect(sync.result).toBe(0);
    expect(sync.ended).toBeLessThan(acknowledgement.began);
    const between = this.#calls.filter(
      (call) =>
        isWrite(call) &&
        isLog(call) &&
        call.ended > sync.began &&
        call.began < acknowledgement.began,
    );
    expect(between).toEqual([]);
    return first;
  }

  all(wanted: (call: SystemCall) => boolean): SystemCall[] {
    return this.#calls.filter(wanted);
  }

  /** The first such call that began after the other had ended. */
  firstAfter(other: SystemCall, wanted: (call: SystemCall) => boolean): SystemCall {
    const found = this.#calls.find((call) => call.began > other.ended && wanted(call));
    if (found === undefined) throw new Error('no such call after it');
    return found;
  }
}

(why === undefined ? describe : describe.skip)(
  'an fsync returns before each acknowledgement',
  () => {
    // Enough of it that one whole marker stands in a page, wherever a page ends.
    const markers = Object.fromEntries(
      ['email', 'large', 'sms', 'chat'].map((name) => [name, `marker-${name}-${randomUUID()}`]),
    );
    const bodyOf = (name: string): string => `${markers[name] ?? ''} `.repeat(5);
    const answers = { email: '', large: '', sms: 0, chat: 0 };
    let trace = new Trace([]);

    // One gateway and one trace for all channels: starting under strace takes seconds.
    beforeAll(async () => {
      const dir = tempDir();
      ends(() => dir.remove());
      const file = join(dir.path, 'trace');
      const { start, greeted, chat, httpUrl } = await gatewaySetting({ paused: true });
      const gateway = await start({ wrapper: straceInto(file) });
      const smtp = await greeted();
      answers.email = await sendEmail(smtp, 'small', bodyOf('email'));
      answers.large = await sendEmail(
        smtp,
        'large',
        `${bodyOf('large')}\r\n${`${'x'.repeat(998)}\r\n`.repeat(100)}`,
      );
      const { status } = await sendSms(httpUrl, { MessageSid: sidOf('one'), Body: bodyOf('sms') });
      answers.sms = status;
      const visitor = await chat();
      // The first message also makes the visitor; the one that is looked at is an ordinary one.
      await visitor.send('hello');
      const ack = await visitor.send(bodyOf('chat'));
      answers.chat = ack.ok ? ack.seq : 0;
      const { pid } = gateway;
      expect(await gateway.terminate()).toEqual({ code: 0, signal: null });
      await waitFor('the tracer', () => isComplete(file, pid), 20);
      trace = new Trace(readTrace(file));
      ends(() => dir.remove());
    });

    test('email, kept in its row', () => {
      expect(answers.email).toMatch(/^250 2\.0\.0 Ok/);
      trace.expectDurable(markers['email'] ?? '', trace.acknowledgement(answers.email));
    });

    test('email, kept in a file: bytes, name and folder before the row', () => {
      expect(answers.large).toMatch(/^250 2\.0\.0 Ok/);
      const isBlob = (call: SystemCall): boolean => /\/blobs\/[^/]+\.tmp$/.test(targetOf(call));
      const writes = trace.all((call) => isWrite(call) && isBlob(call));
      expect(writes.length).toBeGreaterThan(0);
      expect(writes.reduce((sum, { result }) => sum + result, 0)).toBeGreaterThan(100_000);
      expect(writes[0]?.args).toContain(markers['large']);
      const [last] = writes.slice(-1);
      if (last === undefined) throw new Error('no write');

      const synced = trace.firstAfter(last, (call) => isSync(call) && isBlob(call));
      expect(synced.result).toBe(0);
      const renamed = trace.firstAfter(synced, ({ name }) => name.startsWith('rename'));
      expect(renamed.result).toBe(0);
      expect(targetOf(renamed)).toBe(targetOf(last));
      const blob = /\/blobs\/([^/]+)\.tmp$/.exec(targetOf(last))?.[1] ?? '';
      expect(renamed.args).toContain(`/blobs/${blob}"`);
      const folder = trace.firstAfter(
        renamed,
        (call) => isSync(call) && targetOf(call).endsWith('/blobs'),
      );
      expect(folder.result).toBe(0);
      const row = trace.expectDurable(blob, trace.acknowledgement(answers.large));
      expect(row.began).toBeGreaterThan(folder.ended);
    });

    test('SMS', () => {
      expect(answers.sms).toBe(200);
      trace.expectDurable(markers['sms'] ?? '', trace.acknowledgement('<Response/>'));
    });

    test('chat', () => {
      expect(answers.chat).toBeGreaterThan(1);
      // Quotes are escaped as in C.
      const ack = `[{\\"ok\\":true,\\"seq\\":${answers.chat}}]`;
      trace.expectDurable(markers['chat'] ?? '', trace.acknowledgement(ack));
    });
  },
);
