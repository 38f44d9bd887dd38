import { z } from 'zod';
import { cutText } from '../../../runtime/clean-text.ts';
import { isEmojiAlone, MAX_REACTION_LENGTH, reactionOf } from '../../../domain/reactions.ts';
import { type BodyContent, MAX_TRIMMED_LENGTH } from './body/body-content.ts';
import { decodeText } from './body/charset.ts';
import { formatNote } from './body/content-limits.ts';
import type { Leaf } from './parts/read-parts.ts';

/** Gmail's reactions (https://developers.google.com/workspace/gmail/reactions/format). */
const GMAIL_TYPE = 'text/vnd.google.email-reaction+json';
const MAX_GMAIL_BYTES = 2000;
const gmailSchema = z.object({ emoji: z.string().max(100).refine(isEmojiAlone) });

/** The part with a reaction from Gmail: a file of this type that a person attaches is a file. */
export function gmailPart(leaves: readonly Leaf[]): Leaf | undefined {
  return leaves.find((leaf) => leaf.disposition !== 'attachment' && gmailEmoji(leaf) !== undefined);
}

function gmailEmoji({ contentType, content }: Leaf): string | undefined {
  if (contentType !== GMAIL_TYPE || content.size > MAX_GMAIL_BYTES) return undefined;
  try {
    return gmailSchema.parse(JSON.parse(decodeText(content.start, 'utf-8'))).emoji;
  } catch {
    return undefined;
  }
}

/** The body of a reaction: its emoji. What a program wrote around it is kept as trimmed. */
export function reactionBody(body: BodyContent, part: Leaf | undefined): BodyContent | undefined {
  if (part === undefined && body.text.length > MAX_REACTION_LENGTH) return undefined;
  const text = body.asText();
  const emoji = (part && gmailEmoji(part)) ?? reactionOf(text, body.trimmed);
  if (emoji === undefined) return undefined;
  const trimmed = [text, body.trimmed].filter((each) => each !== '').join('\n\n');
  return {
    ...body,
    text: formatNote(emoji, body.format),
    asText: () => emoji,
    trimmed: cutText(trimmed, MAX_TRIMMED_LENGTH),
    trimmedLines: body.trimmedLines + text.split('\n').filter((line) => line.trim() !== '').length,
  };
}
