import { BlobFiles } from '../../../../src/spool/blobs.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createEmailNormalizer } from '../../../../src/channels/email/normalize.ts';
import { readParts } from '../../../../src/channels/email/normalize/parts/read-parts.ts';
import { ScratchFolder } from '../../../../src/channels/email/normalize/parts/collect-part.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { claimedEmail, shopSettings } from './jobs.ts';

const folder = tempDir();
afterAll(() => folder.remove());

const mail = (type: string, body: string) =>
  Buffer.from(
    'From: Ann <ann@customer.example>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
      `--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n--b--\r\n`,
  );

test.each(['; ; ;', '; charset="utf-8"', '', '/', ';name=a.txt'])(
  'RFC 2045 §5.2: a part of the type "%s" is not lost',
  async (type) => {
    const { broken, leaves } = await readParts(
      mail(type, 'Readable.'),
      new ScratchFolder(join(folder.path, 'unused')),
    );
    expect(broken).toBe(false);
    expect(leaves.map(({ content }) => Buffer.from(content.start).toString())).toEqual([
      'Readable.',
    ]);
  },
);

test('a type that cannot be read is plain text', async () => {
  const scratch = new ScratchFolder(join(folder.path, 'unused'));
  const { leaves } = await readParts(mail('; ; ;', 'Readable.'), scratch);
  expect(leaves.map(({ contentType }) => contentType)).toEqual(['text/plain']);
});

test('a part that cannot be written is trouble to try again, and ends no worker', async () => {
  const scratchFolder = join(folder.path, 'scratch');
  const events: string[] = [];
  const normalizer = createEmailNormalizer(
    { shops: [shopSettings], scratchFolder, workers: 1 },
    {
      blobs: new BlobFiles({ dir: folder.path, reserveBytes: 0 }),
      knownRemoteIds: () => Promise.resolve(false),
      countMessage: () => Promise.resolve(undefined),
      logger: { ...silentLogger, warn: (event) => void events.push(event) },
    },
  );
  try {
    rmSync(scratchFolder, { recursive: true });
    writeFileSync(scratchFolder, 'no folder');
    const bytes = mail('application/octet-stream', 'a line of text\r\n'.repeat(200_000));
    const reading = normalizer.normalize(
      claimedEmail({ kind: 'inline', bytes }),
      new AbortController().signal,
    );
    await expect(reading).rejects.toMatchObject({
      name: 'NormalizingUnavailable',
      code: 'ENOTDIR',
    });
    expect(events).toEqual([]);
  } finally {
    await normalizer.stop();
  }
});
