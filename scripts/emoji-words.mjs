// Writes src/widget/ui/emoji/words/<language>.txt, the words that emoji are found by, from Unicode's
// CLDR. Needs two packages that nothing else does, so they are not among the dependencies:
//
//   npm install --no-save cldr-annotations-full@48.2.0 unicode-emoji-json@0.9.0
//   node scripts/emoji-words.mjs
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SRC } from './workspace.mjs';

const WIDGET = join(SRC, 'widget');
/** Later ones are not on every device yet. */
const LATEST = 15;
/** A file has as many words besides those of the names as fit, compressed. */
const MAX_BYTES = 16_600;

/** Clock faces, signs of the zodiac and of Japanese shops, keycaps, and the buttons of a player. */
const UNUSED =
  /[\u{1F550}-\u{1F567}\u2648-\u2653\u{1F201}-\u{1F251}\u3297\u3299\u20E3\u23CF\u23E9-\u23EF\u23F8-\u23FA]/u;

/** Words such as "of" and "de", which nobody searches for. */
const LINKING =
  /^(?:[a-zà-ÿ]{1,2}|the|with|and|der|die|das|mit|und|les|des|avec|con|del|los|las|una|che|per|het|een|met|com|uma|por)$/;

const load = createRequire(import.meta.url);
const emoji = load('unicode-emoji-json/data-by-group.json')
  // Windows has no flags.
  .filter(({ slug }) => slug !== 'flags')
  .flatMap((group) => group.emojis)
  .filter((each) => !UNUSED.test(each.emoji))
  // Sequences fall apart where one of them is missing.
  .filter((each) => !each.emoji.includes('\u200d') && Number(each.emoji_version) <= LATEST)
  .map((each) => each.emoji);

/** The first ones of the grid: they are found by all of their words. */
const [, common] = /\.segment\(\s*'([^']+)'/.exec(
  readFileSync(join(WIDGET, 'ui/emoji/emoji.tsx'), 'utf8'),
);

/** Each emoji with its name and further words: those first that most emoji have, such as "happy". */
function knownIn(language) {
  const { annotations } = load(
    `cldr-annotations-full/annotations/${language}/annotations.json`,
  ).annotations;
  const known = emoji.flatMap((each) => {
    const found = annotations[each] ?? annotations[each.replaceAll('\ufe0f', '')];
    if (!found) return [];
    const [name] = found.tts;
    const words = new Set(found.default.flatMap((words) => words.toLowerCase().split(/[\s’']+/)));
    const more = [...words].filter(
      (word) => !name.toLowerCase().includes(word) && !LINKING.test(word),
    );
    return { emoji: each, name, more };
  });
  const counts = new Map();
  for (const word of known.flatMap(({ more }) => more)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return known.map(({ more, ...each }) => ({
    ...each,
    more: more
      .map((word) => ({ word, count: counts.get(word) }))
      .toSorted((one, other) => other.count - one.count),
  }));
}

for (const file of readdirSync(join(WIDGET, 'texts'))) {
  const language = file.replace('.json', '');
  const known = knownIn(language);
  /** Of each emoji `most` further words, and one more if so many emoji have it. */
  const linesWith = ([most, count]) =>
    known
      .map(({ emoji: each, name, more }) => {
        const words = more.filter(
          ({ count: has }, i) => common.includes(each) || i < most || (i === most && has >= count),
        );
        return `${each}\t${name}\t${words.map(({ word }) => word).join(' ')}`.trimEnd();
      })
      .join('\n') + '\n';
  const fitting = [6, 5, 4, 3, 2, 1, 0]
    .flatMap((most) => [2, 5, 10, 20, 40, 80, Infinity].map((count) => [most, count]))
    .map(linesWith)
    .find((lines) => gzipSync(lines, { level: 9 }).length <= MAX_BYTES);
  writeFileSync(join(WIDGET, 'ui/emoji/words', `${language}.txt`), fitting);
}
