import { BlobFiles } from '../../../src/spool/blobs.ts';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  createEmailNormalizer,
  type EmailNormalizer,
  type EmailNormalizerOptions,
} from '../../../src/channels/email/normalize.ts';
import {
  type AuthenticationVerdict,
  UNENDED_VERDICT,
  UNKNOWN_VERDICT,
} from '../../../src/channels/email/authentication/verdict.ts';
import { NormalizingUnavailable } from '../../../src/channels/email/normalize/threads/mail-worker-pool.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { asBlobName } from '../../../src/domain/ids.ts';
import { runCases } from '../../support/run-count.ts';
import { waitFor } from '../../support/wait-for.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { claimedEmail, inline, shopSettings } from './normalize/jobs.ts';

const POISON = new URL('./normalize/poison-worker.mjs', pathToFileURL(`${import.meta.dirname}/`));
/** A signal that nobody aborts. */
const never = () => new AbortController().signal;
const folder = tempDir();
const scratchFolder = join(folder.path, 'scratch');
let normalizer: EmailNormalizer | undefined;

afterEach(async () => {
  await normalizer?.stop();
  normalizer = undefined;
});

function start(
  options: Partial<EmailNormalizerOptions> = {},
  known: readonly string[] = [],
): EmailNormalizer {
  normalizer = createEmailNormalizer(
    { shops: [shopSettings], scratchFolder, ...options },
    {
      blobs: new BlobFiles({ dir: folder.path, reserveBytes: 0 }),
      knownRemoteIds: (_, ids) => Promise.resolve(ids.some((id) => known.includes(id))),
      countMessage: () => Promise.resolve(undefined),
      logger: silentLogger,
    },
  );
  return normalizer;
}

const letter = (text: string, headers = '') =>
  inline(`From: Ann <ann@customer.example>\nSubject: Hello\n${headers}\n${text}\n`);
const content = async (reading: ReturnType<EmailNormalizer['normalize']>) =>
  (await reading).request.message.content;

function withAttachment(bytes: Buffer): Buffer {
  const encoded = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
  return Buffer.from(
    'From: Ann <ann@customer.example>\r\nSubject: Large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
      '--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n' +
      '--b\r\nContent-Type: application/octet-stream; name=large.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
      `${encoded}\r\n--b--\r\n`,
  );
}

function spooled(name: string, bytes: Buffer) {
  writeFileSync(join(folder.path, name), bytes);
  return { kind: 'file' as const, blob: asBlobName(name), size: bytes.length };
}

describe('reading mail in worker threads', () => {
  test('a message becomes a request', async () => {
    const read = await start().normalize(claimedEmail(letter('How are you?')), never());
    expect(read).toMatchObject({
      verdict: { kind: 'deliver' },
      request: {
        contact: { email: 'ann@customer.example', name: 'Ann' },
        conversation: {
          direction: 'inbound',
          type: 'email',
          agent_contact: 'support@acme.example',
        },
        message: { content: 'How are you?', format: 'TEXT', remote_id: '<one@customer.example>' },
      },
      attachments: [],
    });
  });

  test('the quote of a reply goes when the platform knows what it answers', async () => {
    const reply = letter(
      'New.\n\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> Old.',
      'In-Reply-To: <m1@mail.example>\n',
    );
    expect(
      await content(start({}, ['<m1@mail.example>']).normalize(claimedEmail(reply), never())),
    ).toBe('New.');
    await normalizer?.stop();
    expect(await content(start().normalize(claimedEmail(reply), never()))).toContain('Old.');
  });

  test('it goes as well when the answered id is of a domain of replyDomains', async () => {
    const quoting = 'New.\n\nOn Mon, Jan 5, 2026 at 10:00 AM X <x@y.example> wrote:\n> Old.';
    const reply = letter(quoting, 'References: <m1@replies.example>\n');
    const shops = [{ ...shopSettings, replyDomains: ['replies.example'] }];
    expect(await content(start({ shops }).normalize(claimedEmail(reply), never()))).toBe('New.');
    await normalizer?.stop();
    // Confirmations of the shop system have ids at the shop's own domain.
    const toShop = letter(quoting, 'References: <order-98765@acme.example>\n');
    expect(await content(start().normalize(claimedEmail(toShop), never()))).toBe(quoting);
  });

  test('a released message is delivered whatever it is', async () => {
    const bounce = letter('x', 'X-Failed-Recipients: a@b.example\n');
    const { normalize } = start();
    expect((await normalize(claimedEmail(bounce), never())).verdict.kind).toBe('suppressed');
    const released = await normalize(claimedEmail(bounce, { released: true }), never());
    expect(released.verdict).toEqual({ kind: 'deliver' });
  });

  test('what is over a limit of its shop is held, unless it is released', async () => {
    const asked: unknown[] = [];
    const over = createEmailNormalizer(
      { shops: [shopSettings], scratchFolder },
      {
        blobs: new BlobFiles({ dir: folder.path, reserveBytes: 0 }),
        knownRemoteIds: () => Promise.resolve(false),
        countMessage: (mail, limits) => {
          asked.push([mail, limits]);
          return Promise.resolve('perHour');
        },
        logger: silentLogger,
      },
    );
    normalizer = over;
    const claimed = claimedEmail(letter('How are you?'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { verdict } = await over.normalize(claimed, never());
      expect(verdict).toEqual({
        kind: 'held',
        reason: { code: 'rate_limit', params: { limit: 'perHour' } },
      });
    }
    const { id, shopId, receivedAt: at } = claimed.entry;
    const mail = { shopId, message: id, at, person: 'ann@customer.example' };
    expect(asked).toEqual([
      [expect.objectContaining(mail), shopSettings.loop],
      [expect.objectContaining(mail), shopSettings.loop],
    ]);
    const released = { ...claimed, released: true };
    expect((await over.normalize(released, never())).verdict).toEqual({ kind: 'deliver' });
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['reject', { kind: 'held', reason: { code: 'sender_not_checked' } }, 1],
    ['none', { kind: 'deliver' }, 0],
  ] as const)(
    'after checks that did not end, a policy of %s decides',
    async (policy, expected, raised) => {
      let alarms = 0;
      const decided = { ...UNKNOWN_VERDICT, policy, unfinished: 'check' } as const;
      const unended = createEmailNormalizer(
        { shops: [shopSettings], scratchFolder },
        {
          blobs: new BlobFiles({ dir: folder.path, reserveBytes: 0 }),
          knownRemoteIds: () => Promise.resolve(false),
          countMessage: () => Promise.resolve(undefined),
          authenticator: {
            check: ({ policiesOnly }) => Promise.resolve(policiesOnly ? decided : UNENDED_VERDICT),
            alarm: () => (alarms += 1),
          },
          logger: silentLogger,
        },
      );
      normalizer = unended;
      const claimed = claimedEmail(letter('How are you?'));
      await expect(unended.normalize(claimed, never())).rejects.toMatchObject({
        ...{ name: 'NotYet', retryAfterMs: 10_000, detach: true },
      });
      const notes = { channel: { unended: 3, since: Date.now() } };
      const read = await unended.normalize({ ...claimed, notes }, never());
      expect(read.verdict).toEqual(expected);
      expect(alarms).toBe(raised);
      expect(read.steps).toEqual([{ step: 'authenticated', detail: decided }]);
    },
  );

  test('where the policy is only observed, a check that does not end delays nothing', async () => {
    const counts = { checks: 0, alarms: 0 };
    const observing = createEmailNormalizer(
      {
        shops: [{ ...shopSettings, senderRules: { dmarc: 'observe', unverified: 'deliver' } }],
        scratchFolder,
      },
      {
        blobs: new BlobFiles({ dir: folder.path, reserveBytes: 0 }),
        knownRemoteIds: () => Promise.resolve(false),
        countMessage: () => Promise.resolve(undefined),
        authenticator: {
          check: () => {
            counts.checks += 1;
            return Promise.resolve(UNENDED_VERDICT);
          },
          alarm: () => (counts.alarms += 1),
        },
        logger: silentLogger,
      },
    );
    normalizer = observing;
    const read = await observing.normalize(claimedEmail(letter('How are you?')), never());
    expect(read.verdict).toEqual({ kind: 'deliver' });
    // A check, and one of the policies.
    expect(counts).toEqual({ checks: 2, alarms: 0 });
  });

  test('while a check is late, its message is copied once, until it has ended', async () => {
    const copies = { made: 0, open: 0 };
    const blobs = new BlobFiles({ dir: folder.path, reserveBytes: 0 });
    let end: ((verdict: AuthenticationVerdict) => void) | undefined;
    const late = createEmailNormalizer(
      { shops: [shopSettings], scratchFolder },
      {
        blobs: {
          scratch: async (blob) => {
            copies.made += 1;
            copies.open += 1;
            const { path } = await blobs.scratch(blob);
            const dispose = () => Promise.resolve(void (copies.open -= 1));
            return { path, dispose };
          },
        },
        knownRemoteIds: () => Promise.resolve(false),
        countMessage: () => Promise.resolve(undefined),
        authenticator: {
          check: () => new Promise((resolve) => (end = resolve)),
          alarm: () => undefined,
        },
        logger: silentLogger,
      },
    );
    normalizer = late;
    const bytes = Buffer.from('From: Ann <ann@customer.example>\r\n\r\nHow are you?\r\n');
    const claimed = claimedEmail(spooled('late.eml', bytes));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(late.normalize(claimed, never())).rejects.toMatchObject({ name: 'NotYet' });
      expect(copies).toEqual({ made: 1, open: 1 });
    }
    end?.(UNKNOWN_VERDICT);
    await waitFor('the copy to be removed', () => copies.open === 0);
    const read = await late.normalize(claimed, never());
    expect(copies).toEqual({ made: 2, open: 1 });
    await read.dispose();
    expect(copies).toEqual({ made: 2, open: 0 });
  });

  test('20 MB of attachment come out byte for byte, twice, under the same name', async () => {
    const bytes = randomBytes(20 * 1024 * 1024);
    const raw = spooled('large.eml', withAttachment(bytes));
    const { normalize } = start();
    const [first, second] = await Promise.all([
      normalize(claimedEmail(raw), never()),
      normalize(claimedEmail(raw), never()),
    ]);
    const [attachment] = first.attachments;
    const opened = await attachment?.open(never());
    expect(opened).toMatchObject({ name: 'large.bin', size: bytes.length });
    for (const attempt of ['first', 'second try']) {
      const sent = opened === undefined ? Buffer.alloc(0) : await buffer(opened.stream());
      expect([attempt, sha256(sent)]).toEqual([attempt, sha256(bytes)]);
    }
    expect(second.attachments[0]?.part).toBe(attachment?.part);

    await first.dispose();
    await second.dispose();
    expect(readdirSync(scratchFolder)).toEqual([]);
  });

  test('a small attachment needs no file', async () => {
    const bytes = Buffer.from('%PDF-1.4 small');
    const raw = { kind: 'inline' as const, bytes: withAttachment(bytes) };
    const read = await start().normalize(claimedEmail(raw), never());
    const opened = await read.attachments[0]?.open(never());
    expect(opened).toMatchObject({ name: 'large.bin', type: 'application/pdf' });
    expect(opened === undefined ? undefined : await buffer(opened.stream())).toEqual(bytes);
    expect(readdirSync(scratchFolder)).toEqual([]);
  });

  test('what a crash left in the scratch folder is gone at the start', () => {
    mkdirSync(join(scratchFolder, 'left'), { recursive: true });
    writeFileSync(join(scratchFolder, 'left', '1'), 'x');
    start();
    expect(existsSync(join(scratchFolder, 'left'))).toBe(false);
  });

  test('a raw form that is missing is trouble to try again, not a stub', async () => {
    const raw = { kind: 'file' as const, blob: asBlobName('gone.eml'), size: 1 };
    await expect(start().normalize(claimedEmail(raw), never())).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  test('an abort ends the waiting at once', async () => {
    const stopping = new AbortController();
    const reading = start({ worker: POISON, deadlineMs: 20_000 }).normalize(
      claimedEmail(letter('x', 'X-Poison: hang\n')),
      stopping.signal,
    );
    stopping.abort(new Error('shutting down'));
    await expect(reading).rejects.toThrow('shutting down');
  });

  test('workers that never start are trouble to try again', async () => {
    const { normalize } = start({ worker: new URL('./no-such-worker.mjs', POISON) });
    await expect(normalize(claimedEmail(letter('x')), never())).rejects.toBeInstanceOf(
      NormalizingUnavailable,
    );
  });
});

describe('hostile mail', () => {
  const options = { worker: POISON, deadlineMs: 1500, maxHeapMb: 64 };
  test.each(runCases(['loop', 'exit', 'hang', 'heap']))(
    'one that makes its worker %s is stubbed, and its neighbours are read',
    async (poison) => {
      const { normalize } = start(options);
      const raw = letter('poison', `X-Poison: ${poison}\n`);
      const reads = await Promise.all([
        ...Array.from({ length: 5 }, (_, index) =>
          normalize(claimedEmail(letter(`before ${index}`)), never()),
        ),
        normalize(claimedEmail(raw), never()),
        ...Array.from({ length: 5 }, (_, index) =>
          normalize(claimedEmail(letter(`after ${index}`)), never()),
        ),
      ]);
      const stub = reads[5];
      expect(
        reads.filter((read) => read !== stub).map(({ request }) => request.message.content),
      ).toEqual([
        ...Array.from({ length: 5 }, (_, index) => `before ${index}`),
        ...Array.from({ length: 5 }, (_, index) => `after ${index}`),
      ]);
      expect(stub?.request.message.content).toBe(
        'Hello\n\n(message could not be read; the original is attached)',
      );
      expect(stub?.request.contact).toEqual({ email: 'ann@customer.example', name: 'Ann' });
      const original = await stub?.attachments[0]?.open(never());
      expect(original?.name).toBe('Hello.eml');
      expect(original === undefined ? undefined : await buffer(original.stream())).toEqual(
        raw.bytes,
      );
    },
  );

  test('one that takes more buffer memory than a worker may hold is stubbed, and its neighbours are read', async () => {
    const { normalize } = start({ workers: 1, maxBufferMb: 2 });
    const bytes = withAttachment(randomBytes(24 * 1024 * 1024));
    const [before, stub, after] = await Promise.all([
      normalize(claimedEmail(letter('before')), never()),
      normalize(claimedEmail(spooled('greedy.eml', bytes)), never()),
      normalize(claimedEmail(letter('after')), never()),
    ]);
    expect(before.request.message.content).toBe('before');
    expect(after.request.message.content).toBe('after');
    expect(stub.findings).toMatchObject({ unreadable: true });
    const original = await stub.attachments[0]?.open(never());
    expect(original).toMatchObject({ name: 'Large.eml', size: bytes.length });
    expect(original === undefined ? '' : sha256(await buffer(original.stream()))).toBe(
      sha256(bytes),
    );
    await stub.dispose();
    expect(readdirSync(scratchFolder)).toEqual([]);
  });

  test('two of them at once cost nobody but themselves', async () => {
    const { normalize } = start({ ...options, workers: 1 });
    const reads = await Promise.all(
      ['X-Poison: exit\n', '', 'X-Poison: exit\n', ''].map((headers) =>
        normalize(claimedEmail(letter('text', headers)), never()),
      ),
    );
    expect(reads.map(({ findings }) => findings['unreadable'] ?? false)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test('one that our own code fails on is stubbed too', async () => {
    const read = await start(options).normalize(
      claimedEmail(letter('x', 'X-Poison: throw\n')),
      never(),
    );
    expect(read.findings).toMatchObject({ unreadable: true });
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
