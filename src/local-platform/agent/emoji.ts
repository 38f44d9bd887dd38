import { isEmojiAlone } from '../../domain/reactions.ts';
import type { MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { ALL_SENTENCES } from './sentences.ts';

/** Without the skin tone. */
const THUMB = /^\s*(?:(👍)|👎)\p{Emoji_Modifier}?\ufe0f?\s*$/u;

/** What a message says to the agent. Undefined for emoji alone, which nobody expects an answer to. */
export function wordsTo(store: Store, message: MessageRow): string | undefined {
  const { text } = message;
  if (!isEmojiAlone(text)) return text;
  const thumb = THUMB.exec(text);
  const [last] = store.messages.before(message, 1);
  if (thumb === null || last?.role !== 'agent') return undefined;
  const asked = ALL_SENTENCES.find(({ didThatHelp }) => last.text.includes(didThatHelp));
  return thumb[1] === undefined ? asked?.no : asked?.yes;
}
