import { normalizeMessage } from '../../../src/channels/email/normalize/normalize-message.ts';
import type { EmailJob } from '../../../src/channels/email/normalize/job.ts';
import { compileShop } from '../../../src/channels/email/shop.ts';
import { emailJob, shopSettings } from '../../channels/email/normalize/jobs.ts';
import type { GeneratedReply } from './generate-reply.ts';
import { madeUpWords } from './words.ts';

export interface Judged {
  readonly content: string;
  /** The new words that are missing: the worst fault. */
  readonly cut: readonly string[];
  /** The quoted words that were left over: a small fault. */
  readonly leftOver: readonly string[];
}

const shop = compileShop({ ...shopSettings, quotes: 'always' });

/** What comes out of the normalizer for a generated reply, and what is wrong with it. */
export async function judgeReply(reply: GeneratedReply, scratch: string): Promise<Judged> {
  const bytes = Buffer.from(
    `From: ann@customer.example\r\nSubject: Re: x\r\nContent-Type: ${reply.contentType}; charset=utf-8\r\n\r\n${reply.body}`,
  );
  const job: EmailJob = emailJob(bytes, scratch);
  const { request } = await normalizeMessage(job, {
    shop,
    maxBufferBytes: Infinity,
    isKnown: () => Promise.resolve(true),
  });
  const { content } = request.message;
  const left = new Set(madeUpWords(content));
  return {
    content,
    cut: reply.own.filter((word) => !left.has(word)),
    leftOver: reply.quoted.filter((word) => left.has(word)),
  };
}
