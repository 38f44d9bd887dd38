import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { importOnce } from '../../import-once.ts';
import { useUi } from '../ui.ts';
import { isTouch } from '../focus.ts';
import { isComposing } from '../keys.ts';
import { moveFocus } from '../move-focus.ts';
import { findEmoji, type Known, readWords } from './find.ts';

export { lend } from '../part/lent.ts';
export { default as css } from './emoji.css?inline';

/** Files with the words of each language, beside this one; the build fills it in. */
declare const WORD_FILES: Readonly<Record<string, string>>;

const loaders = new Map<string, () => Promise<{ readonly default: string }>>();

/** In a language that the widget does not have, emoji are found by their English words. */
async function loadWords(locale: string): Promise<readonly Known[]> {
  const file = WORD_FILES[locale.split('-')[0] ?? ''] ?? WORD_FILES['en'] ?? '';
  const load = loaders.get(file) ?? importOnce(new URL(file, import.meta.url).href);
  loaders.set(file, load);
  return readWords((await load()).default);
}

/** Common in conversations with a shop; they come first. */
const COMMON = [
  ...new Intl.Segmenter().segment(
    '😀😄😅😂🙂😉😊😍😎🤔😐😢😭😱🥳😴👍👎👌🙏👏🙌👋🤝✌️❤️💔🔥🎉🎁✅❌⚠️❓⏰📦🚚💳💡☕',
  ),
].map(({ segment }) => segment);

/** The same as in emoji.css. */
const COLUMNS = 8;

/** Drawn at first, and added each time the visitor comes near the last one. */
const STEP = 20 * COLUMNS;

/** All emoji, and a field to find one by its words. */
export function Emoji({ onPick }: { readonly onPick: (emoji: string) => void }) {
  const { texts, locale } = useUi();
  const [all, setAll] = useState<readonly Known[]>([]);
  const [query, setQuery] = useState('');
  const [drawn, setDrawn] = useState(STEP);
  const field = useRef<HTMLInputElement>(null);
  const grid = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    // There, the focus in a field would open the keyboard.
    (isTouch() ? grid.current?.querySelector('button') : field.current)?.focus();
  }, []);
  useEffect(() => {
    // Without the words there are the common ones.
    loadWords(locale).then(setAll, () => undefined);
  }, [locale]);

  const found = useMemo(
    () => (query.trim() === '' ? commonFirst(all) : findEmoji(all, query)),
    [all, query],
  );
  const buttons = (): HTMLElement[] => [
    ...(grid.current?.querySelectorAll<HTMLElement>('button') ?? []),
  ];

  return (
    <>
      <input
        ref={field}
        type="search"
        class="find"
        aria-label={texts.findEmoji}
        placeholder={texts.findEmoji}
        {...(query && { dir: 'auto' })}
        maxLength={40}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setDrawn(STEP);
          if (grid.current) grid.current.scrollTop = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !isComposing(event)) return;
          // The other keys are the field's.
          event.stopPropagation();
          if (isComposing(event)) return;
          if (event.key === 'ArrowDown') buttons()[0]?.focus();
          if (event.key === 'Enter' && query.trim() !== '' && found[0]) onPick(found[0].emoji);
          // Enter would send the message.
          if (event.key === 'ArrowDown' || event.key === 'Enter') event.preventDefault();
        }}
      />
      <div
        ref={grid}
        class="found"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          if (scrollTop + 2 * clientHeight > scrollHeight && drawn < found.length)
            setDrawn(drawn + STEP);
        }}
        onKeyDown={(event) => {
          const at = buttons().indexOf(event.target as HTMLElement);
          if (event.key === 'ArrowUp' && at < COLUMNS) {
            event.preventDefault();
            field.current?.focus();
          } else moveFocus(event, COLUMNS);
        }}
      >
        {found.slice(0, drawn).map(({ emoji, name }, i) => (
          <button
            key={emoji}
            type="button"
            tabIndex={i === 0 ? 0 : -1}
            {...(name && { 'aria-label': name, title: name })}
            onClick={() => onPick(emoji)}
          >
            {emoji}
          </button>
        ))}
        {found.length === 0 && <p role="status">{texts.nothingFound}</p>}
      </div>
    </>
  );
}

function commonFirst(all: readonly Known[]): readonly Known[] {
  const known = new Map(all.map((each) => [each.emoji, each]));
  const common = COMMON.map((emoji) => known.get(emoji) ?? { emoji, name: '', words: '' });
  return [...common, ...all.filter(({ emoji }) => !COMMON.includes(emoji))];
}
