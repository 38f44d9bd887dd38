// Writes src/widget/ui/emoji/words/<language>.txt, the words that emoji are found by, from Unicode's
// CLDR. Needs two packages that nothing else does, so they are not among the dependencies:
//
//   npm install --no-save cldr-annotations-full@48.2.0 unicode-emoji-json@0.9.0
//   node scripts/emoji-words.mjs
import { readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SRC } from './workspace.mjs';

const WIDGET = join(SRC, 'widget');
/** Later ones are not on every device yet. */
const LATEST = 15;
/** A file has as many words besides those of the names as fit, compressed. */
const MAX_BYTES = 18_100;

/** Clock faces, signs of the zodiac and of Japanese shops, keycaps, and the buttons of a player. */
const UNUSED =
  /[\u{1F550}-\u{1F567}\u2648-\u2653\u{1F201}-\u{1F251}\u3297\u3299\u20E3\u23CF\u23E9-\u23EF\u23F8-\u23FA]/u;

const load = createRequire(import.meta.url);
const emoji = load('unicode-emoji-json/data-by-group.json')
  // Windows has no flags.
  .filter(({ slug }) => slug !== 'flags')
  .flatMap((group) => group.emojis)
  .filter((each) => !UNUSED.test(each.emoji))
  // Sequences fall apart where one of them is missing.
  .filter((each) => !each.emoji.includes('\u200d') && Number(each.emoji_version) <= LATEST)
  .map((each) => each.emoji);

/** Each emoji with its name and further words: those first that most emoji have, such as "happy". */
function knownIn(language) {
  const { annotations } = load(
    `cldr-annotations-full/annotations/${language}/annotations.json`,
  ).annotations;
  const known = emoji.flatMap((each) => {
    const found = annotations[each] ?? annotations[each.replaceAll('\ufe0f', '')];
    if (!found) return [];
    const [name] = found.tts;
    const words = new Set(found.default.flatMap((words) => words.toLowerCase().split(/\s+/)));
    const more = [...words].filter((word) => !name.toLowerCase().includes(word));
    return { emoji: each, name, more };
  });
  const counts = new Map();
  for (const word of known.flatMap(({ more }) => more)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  for (const { more } of known) more.sort((one, other) => counts.get(other) - counts.get(one));
  return known;
}

for (const file of readdirSync(join(WIDGET, 'texts'))) {
  const language = file.replace('.json', '');
  const known = knownIn(language);
  const linesWith = (most) =>
    known
      .map(({ emoji: each, name, more }) =>
        `${each}\t${name}\t${more.slice(0, most).join(' ')}`.trimEnd(),
      )
      .join('\n') + '\n';
  const fitting = [6, 5, 4, 3, 2, 1, 0]
    .map(linesWith)
    .find((lines) => gzipSync(lines, { level: 9 }).length <= MAX_BYTES);
  writeFileSync(join(WIDGET, 'ui/emoji/words', `${language}.txt`), fitting);
}
