import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EmailResult } from '../../../src/channels/email/normalize/job.ts';
import { normalizeMessage } from '../../../src/channels/email/normalize/normalize-message.ts';
import { compileShop } from '../../../src/channels/email/shop.ts';
import { emailJob, shopSettings } from '../../channels/email/normalize/jobs.ts';
import { accountFor, isIn } from './account-for.ts';
import type { GeneratedMail } from './generate-mime.ts';
import { type Comparison, compareLeaves, isSomething, withLineFeeds } from './mime-differences.ts';
import { readMail, type ReadMail } from './read-mail.ts';
import { secondLeaves } from './second-parser.ts';

/** What came of one message. */
export interface MailCheck extends Comparison {
  /** The processor time of Sluice's readings. */
  readonly ms: number;
  /** Parts of the second parser that are neither in the content, nor a file, nor in the notes. */
  readonly lost: readonly string[];
  /** For a generated message: what is not as it was written. */
  readonly notAsWritten: readonly string[];
}

const shop = compileShop({ ...shopSettings, quotes: 'never' });

/**
 * Reads a message with Sluice and with the second parser, and compares what they find.
 * @throws what Sluice throws, which would be a fault of its own
 */
export async function checkMail(
  message: Pick<GeneratedMail, 'bytes'> & Partial<GeneratedMail>,
  folder: string,
  from: 'memory' | 'file',
): Promise<MailCheck> {
  const started = process.cpuUsage();
  try {
    const ours = await readMail(message.bytes, folder, from);
    const result = await normalize(message.bytes, folder);
    const { user, system } = process.cpuUsage(started);
    const second = await secondLeaves(message.bytes);
    return {
      ...compareLeaves(ours, second, message.bytes),
      ms: (user + system) / 1000,
      lost: await accountFor(second ?? [], ours, result, () =>
        readMail(withoutEncodings(message.bytes), folder, 'memory'),
      ),
      notAsWritten: message.leaves === undefined ? [] : compareWritten(ours, message, result),
    };
  } finally {
    rmSync(join(folder, 'scratch'), { recursive: true, force: true });
    rmSync(join(folder, 'job'), { recursive: true, force: true });
  }
}

/** The same message, whose encodings nobody knows. */
function withoutEncodings(message: Buffer): Buffer {
  const text = message.toString('latin1');
  return Buffer.from(
    text.replaceAll(/^content-transfer-encoding/gim, 'X-Transfer-Encoding'),
    'latin1',
  );
}

async function normalize(bytes: Buffer, folder: string): Promise<EmailResult> {
  return normalizeMessage(emailJob(bytes, folder), {
    shop,
    maxBufferBytes: Infinity,
    isKnown: () => Promise.resolve(false),
  });
}

/** The parts as they were written, in their order, and all of them in the payload. */
function compareWritten(
  ours: ReadMail,
  { leaves: written = [] }: Partial<GeneratedMail>,
  result: EmailResult,
): readonly string[] {
  const found = ours.leaves.filter(isSomething);
  const expected = written.filter(isSomething);
  const faults = found
    .filter((leaf) => !isIn(result, ours, leaf))
    .map(({ leaf }) => `${leaf.index} lost`);
  // Preamble and epilogue of a message without any text.
  if (found.length > expected.length && ours.recoveries.includes('text_outside_parts'))
    found.shift();
  if (found.length !== expected.length) faults.push(`${found.length} of ${expected.length} parts`);
  found.forEach(({ bytes, name }, index) => {
    const { bytes: wrote, name: named } = expected[index] ?? { bytes, name };
    if (withLineFeeds(bytes) !== withLineFeeds(wrote)) faults.push(`${index}: other bytes`);
    if (name !== named) faults.push(`${index}: ${name ?? '-'} instead of ${named ?? '-'}`);
  });
  return faults;
}
