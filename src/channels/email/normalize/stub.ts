import { open, stat } from 'node:fs/promises';
import { MAX_HEADER_BYTES, parseHeaderBlock } from '../header-block.ts';
import { rawFile } from './parts/attached-files.ts';
import type { EmailJob, EmailResult } from './email-job.ts';
import type { RawSource } from '../raw-source.ts';
import { readHead } from './head/message-head.ts';
import type { ShopMail } from './shop-mail.ts';
import { stubText } from './stub-text.ts';

/** Beside the subject, who wrote and what it answers, a stub says nothing of the message. */
export async function stubResult(job: EmailJob, shop: ShopMail): Promise<EmailResult> {
  const { bytes, size } = await readStart(job.raw);
  const head = readHead(parseHeaderBlock(bytes), job, shop);
  return {
    verdict: head.verdict,
    request: head.request(stubText(head.subject), 'TEXT'),
    // Of its body nothing is known: it is like no other.
    ...(head.counted && { counted: { ...head.counted, body: job.remoteId } }),
    files: [rawFile(head.subject, size)],
    notes: { body: 'none', unreadable: true, attachments: 1 },
    // What the failed attempts left there.
    usedScratch: true,
  };
}

async function readStart(raw: RawSource): Promise<{ bytes: Uint8Array; size: number }> {
  if (raw.kind === 'bytes')
    return { bytes: raw.bytes.subarray(0, MAX_HEADER_BYTES), size: raw.bytes.length };
  const { size } = await stat(raw.path);
  const handle = await open(raw.path);
  try {
    const buffer = new Uint8Array(Math.min(size, MAX_HEADER_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return { bytes: buffer.subarray(0, bytesRead), size };
  } finally {
    await handle.close();
  }
}
