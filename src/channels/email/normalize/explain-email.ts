import type {
  EmailReading,
  PartReading,
  PartUse,
  QuotesReading,
  SenderReading,
} from '../../../domain/email-reading.ts';
import { passes, treatSender } from '../authentication/verdict.ts';
import { selectSender } from '../sender.ts';
import { claimIn } from './head/message-head.ts';
import type { EmailJob, EmailResult } from './job.ts';
import { type NormalizeContext, type ReadEmail, readEmail } from './normalize-message.ts';
import { safeFileName } from './parts/attached-files.ts';
import type { Leaf, Part } from './parts/read-parts.ts';

/** A message as the platform would get it, and how it was read. */
export type ExplainedEmail = EmailResult & { readonly reading: EmailReading };

/**
 * Reads a message like `normalizeMessage`, and says how.
 * @throws as `normalizeMessage`
 */
export async function explainEmail(
  job: EmailJob,
  context: NormalizeContext,
): Promise<ExplainedEmail> {
  const read = await readEmail(job, context);
  const { result, body, root } = read;
  const { verdict, findings } = result;
  return {
    ...result,
    reading: {
      sender: senderReading(read, job, context),
      parts: root === undefined ? [] : partReadings(root, '', useOf(read)),
      body: body.why,
      quotes: quotesReading(read),
      findings,
      decision: {
        kind: verdict.kind,
        ...(verdict.kind !== 'deliver' && { reason: verdict.reason }),
      },
    },
  };
}

function senderReading(
  { head, result }: ReadEmail,
  { authentication }: EmailJob,
  { shop }: NormalizeContext,
): SenderReading {
  const sender = selectSender(head, shop);
  const treatment = treatSender(authentication, claimIn(sender), shop.senderRules);
  const address = result.request.contact.email ?? undefined;
  return {
    ...(address !== undefined && { address }),
    because: sender.kind === 'claimed' ? sender.because : sender.kind,
    ...(authentication && { checks: authentication }),
    // A fault in the structure makes the sender unverified.
    verified:
      passes(authentication) && !treatment.dropCopies && result.findings['recovered'] === undefined,
  };
}

function quotesReading({ body, trims }: ReadEmail): QuotesReading {
  return { why: body.kept ?? trims, cut: body.cuts, stayed: body.stayed };
}

/** What becomes of each leaf. */
function useOf({ body, attachments, files }: ReadEmail): (leaf: Leaf) => PartUse {
  // By index, because pictures may have been taken out of a leaf.
  const content = new Set(body.leaves.map(({ index }) => index));
  const uses = new Map<number, PartUse>();
  attachments.forEach((leaf, index) => {
    const { contentId } = leaf;
    const name = files[index]?.name ?? '';
    const isInline = contentId !== undefined && body.text.includes(`[image: ${name}]`);
    uses.set(
      leaf.index,
      isInline || isShown(files[index]?.shownAs, body.text) ? 'inline' : 'attachment',
    );
  });
  return ({ index }) => (content.has(index) ? 'body' : (uses.get(index) ?? 'other_form'));
}

const isShown = (address: string | undefined, text: string): boolean =>
  address !== undefined && text.includes(address);

function partReadings(
  part: Part,
  number: string,
  useOfLeaf: (leaf: Leaf) => PartUse,
): readonly PartReading[] {
  if (part.kind === 'multipart') {
    const children = part.children.flatMap((child, index) =>
      partReadings(child, number === '' ? String(index + 1) : `${number}.${index + 1}`, useOfLeaf),
    );
    const own = { number: number === '' ? '0' : number, type: part.contentType };
    return [{ ...own, use: 'container' }, ...children];
  }
  const { contentType, content, parameters, fileName } = part;
  const charset = contentType.startsWith('text/') ? parameters['charset'] : undefined;
  return [
    {
      number: number === '' ? '1' : number,
      type: contentType,
      bytes: content.size,
      ...(charset !== undefined && { charset: charset.slice(0, 60) }),
      ...(fileName !== undefined && {
        name: safeFileName(fileName, { mime: contentType }, 'file'),
      }),
      use: useOfLeaf(part),
    },
  ];
}
