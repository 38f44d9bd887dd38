/** Pictures with their modifiers, joiners and tags. Keycaps are digits, which answer a question. */
const EMOJI = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{RI}\u{e0020}-\u{e007f}\u200d\ufe0e\ufe0f]`;
const EMOJI_ALONE = new RegExp(String.raw`^(?:${EMOJI}|\s)+$`, 'u');
const MAX_EMOJI_LENGTH = 100;
const PICTURE = /[\p{Extended_Pictographic}\p{RI}]/u;

/** Whether a text is one or several emoji and nothing else. */
export const isEmojiAlone = (text: string): boolean => EMOJI_ALONE.test(text) && PICTURE.test(text);

/** People react so to a message that is wrong, or that they do not understand. */
const DISPLEASED = /[👎😠😡🤬😢😭❓⁉]/u;

/** Whether a reaction is one that a person has to see. */
export const saysDispleasure = (text: string): boolean =>
  text.length <= MAX_EMOJI_LENGTH && isEmojiAlone(text) && DISPLEASED.test(text);

/** A longer text is no reaction: the quoted message is shortened. */
export const MAX_REACTION_LENGTH = 10_000;

/** By the verb that phones write (the tapbacks of Apple's Messages). */
const TAPBACKS: ReadonlyMap<string, string> = new Map([
  ['Liked', '👍'],
  ['Loved', '❤️'],
  ['Disliked', '👎'],
  ['Laughed at', '😂'],
  ['Emphasized', '‼️'],
  ['Emphasised', '‼️'],
  ['Questioned', '❓'],
]);
/** By the name of the picture in Outlook's mail. */
const OUTLOOK: ReadonlyMap<string, string> = new Map([
  ['like', '👍'],
  ['heart', '❤️'],
  ['celebrate', '🎉'],
  ['laugh', '😆'],
  ['surprised', '😮'],
  ['sad', '😢'],
]);
const names = (emoji: ReadonlyMap<string, string>): string => [...emoji.keys()].join('|');

const TAPBACK = new RegExp(`^(${names(TAPBACKS)}) `);
/** Apple’s since iOS 18, and Google’s, which has no verb. */
const REACTED = new RegExp(`^(?:Reacted )?(${EMOJI}+) to `, 'u');
const FILE = /^an? (?:image|photo|movie|video|attachment|sticker|GIF|audio message)$/;
/** `[like] Ann reacted to your message:`, also with the picture; `👍 Ann reacted via Gmail <…>`. */
const ANNOUNCED = new RegExp(
  String.raw`^(?:(${EMOJI}+)|!?\\?\[(?:image: )?(${names(OUTLOOK)})\\?\](?:\([^()\s]*\))?)\s+(?=\S)`,
  'u',
);
const RULE = /^_{20}/;
const ANNOUNCEMENT = / reacted (?:to your message:?$|via \[?Gmail\b)/;

/**
 * The emoji of a reaction that phones and mail programs write as a text of its own, with the message
 * that it is about: `Liked “See you”`, `👍 to “See you”`. Undefined for any other text, also for one
 * about other words than those of the message below it: a person may write `Loved “Aurora”`, too.
 * @param answered the quoted message, empty if there is none
 */
export function reactionOf(text: string, answered = ''): string | undefined {
  if (text.length > MAX_REACTION_LENGTH) return undefined;
  // Google Messages puts hair spaces and zero-width spaces around each part.
  const words = text.replace(/[\u200a\u200b]/g, '').trim();
  return tapback(words, answered) ?? reacted(words, answered) ?? announced(words);
}

function tapback(text: string, answered: string): string | undefined {
  const [all, verb = ''] = TAPBACK.exec(text) ?? [];
  if (all === undefined) return undefined;
  return isAbout(text.slice(all.length), answered) ? TAPBACKS.get(verb) : undefined;
}

function reacted(text: string, answered: string): string | undefined {
  const [all, emoji = ''] = REACTED.exec(text) ?? [];
  if (all === undefined || !isEmojiAlone(emoji)) return undefined;
  return isAbout(text.slice(all.length), answered) ? emoji : undefined;
}

const isAbout = (what: string, answered: string): boolean =>
  FILE.test(what) || (isQuotation(what) && quotes(what, answered));

/** One line names the person and the program; the quoted message may follow below Outlook's rule. */
function announced(text: string): string | undefined {
  const [all, emoji, name = ''] = ANNOUNCED.exec(text) ?? [];
  if (all === undefined) return undefined;
  const [line = '', ...below] = text.slice(all.length).split('\n');
  const next = below.find((each) => each.trim() !== '') ?? '';
  if (!ANNOUNCEMENT.test(line.trimEnd()) || (next !== '' && !RULE.test(next))) return undefined;
  return emoji !== undefined && isEmojiAlone(emoji) ? emoji : OUTLOOK.get(name);
}

/** Only those that phones write: people type straight ones. */
const QUOTATION_MARKS: ReadonlyMap<string, string> = new Map([
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
]);

/** Whether a quotation has words of the answered message, if that is known. */
function quotes(text: string, answered: string): boolean {
  const [quoted, whole] = [text.slice(1, -1).replace(/…$/, ''), answered].map((each) =>
    each.replace(/[>\s]+/g, ' ').trim(),
  );
  return whole === '' || whole?.includes(quoted ?? '') === true;
}

/** Whether a quotation begins with the text and ends with it, whatever it quotes itself. */
function isQuotation(text: string): boolean {
  const [open = ''] = text;
  const close = QUOTATION_MARKS.get(open);
  let depth = 0;
  for (const character of text.slice(0, -1)) {
    if (character === open) depth += 1;
    else if (character === close) depth -= 1;
    if (depth === 0) return false;
  }
  return close !== undefined && text.endsWith(close);
}
