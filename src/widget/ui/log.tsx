import { useRef } from 'preact/hooks';
import type { Line } from '../engine/chat.ts';
import { Awaited } from './awaited.tsx';
import { fill, startOfDay } from './formats.ts';
import { Avatar } from './avatar.tsx';
import { isShutOut } from './banner.tsx';
import { Icon } from './icon.tsx';
import { LineRow } from './line.tsx';
import { lastWords } from './own-words.ts';
import { Part } from './part/part.tsx';
import { useDrawn, useScroll } from './scroll.ts';
import { useUi } from './ui.ts';

/** The lines of the conversation, oldest first; before the first one, the greeting. */
export function Log() {
  const ui = useUi();
  const { chat, texts, settings, formats, awayUntil } = ui;
  // When the visitor writes on, the question is over.
  const ending = ui.ending.value?.after === lastWords(ui) && ui.ending.value;
  const visitorId = chat.session.value?.visitorId;
  const all = chat.lines.value;
  const drawn = useDrawn(all);
  const { lines } = drawn;
  const older = chat.older.value;
  const newIds = useNewIds(all);
  const scroll = useScroll(drawn);
  const edited = useEdited(all);
  const now = Date.now();
  // A visitor with a history gets it in a moment.
  const isNew = lines.length === 0 && !chat.session.value?.lastSeq;
  const canAsk = !isShutOut(chat.connection.value);
  const { usualReplySeconds: seconds } = settings;

  return (
    <div class="log-frame">
      <div
        ref={scroll.box}
        class="log"
        role="log"
        aria-label={texts.log}
        aria-live={older === 'loading' ? 'off' : 'polite'}
        aria-relevant="additions"
        tabIndex={0}
        onScroll={scroll.onScroll}
      >
        <div ref={scroll.content} class="lines">
          {older === 'loading' && <p class="loading">{texts.loading}</p>}
          {isNew && canAsk && (
            <div class="hello">
              <Avatar author={settings.agent} px={64} />
              <p dir="auto">{settings.greeting ?? texts.welcome}</p>
              {/* The first reply was measured; now, it needs a connection and somebody there. */}
              {seconds && chat.connection.value.state === 'online' && !awayUntil.value && (
                <p class="soon">{fill(texts.usually, formats.wait(seconds))}</p>
              )}
            </div>
          )}
          {arrange(lines, chat.breaks.value).map((item) => {
            switch (item.kind) {
              case 'day':
                return (
                  <p key={item.key} class="day">
                    {formats.day(item.at, now)}
                  </p>
                );
              case 'break':
                return (
                  <p key={item.key} class="break">
                    <span>{texts.newConversation}</span>
                  </p>
                );
              case 'line':
                return (
                  <LineRow
                    key={item.key}
                    line={item.line}
                    first={item.first}
                    last={item.last}
                    isOther={item.isOther}
                    isNew={newIds.has(item.key)}
                  />
                );
            }
          })}
          {canAsk && <Answers />}
          <Awaited />
          {/* What is typed there is this visitor's, and about this line. */}
          {awayUntil.value && (
            <Part key={visitorId} of="away" draw={({ LeaveEmail }) => <LeaveEmail />} />
          )}
          {ending && <Part key={ending.after} of="menu" draw={({ Ending }) => <Ending />} />}
        </div>
      </div>
      <p class="sr" role="status">
        {edited && `${texts.edited}: ${edited}`}
      </p>
      {scroll.hasNewLines && (
        <button type="button" class="new-messages" onClick={scroll.toEnd}>
          <Icon name="down" />
          {texts.newMessages}
        </button>
      )}
    </div>
  );
}

/**
 * What the visitor can send with one press: the shop's questions, until they have written, or write,
 * words of their own; and the choices of the last reply, until they answer it.
 */
function Answers() {
  const { chat, settings } = useUi();
  const last = chat.lines.value.at(-1);
  const starters = chat.draft.value.trim() === '' ? settings.starters : [];
  const isOver = chat.breaks.value.includes(last?.seq ?? 0);
  const texts = last ? !isOver && last.choices?.map(({ text }) => text) : starters;
  if (!texts || texts.length === 0) return null;
  return (
    <div class="starters">
      {texts.map((text) => (
        <button key={text} type="button" dir="auto" onClick={() => chat.say(text)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** The ids of lines that were added at the end while the log was shown. */
function useNewIds(lines: readonly Line[]): ReadonlySet<string> {
  const memory = useRef({ known: new Set<string>(), added: new Set<string>(), isDrawn: false });
  const { known, added, isDrawn } = memory.current;
  let isBelow = known.size === 0;
  for (const { id } of lines) {
    if (known.has(id)) isBelow = true;
    else if (isBelow && isDrawn) added.add(id);
  }
  for (const { id } of lines) known.add(id);
  memory.current.isDrawn = true;
  return added;
}

/** As much of a changed text as a screen reader says. */
const SAID = 300;

/** The text that has changed last while the log was shown: the log itself announces new lines only. */
function useEdited(lines: readonly Line[]): string {
  const { current: memory } = useRef({ revs: new Map<string, number>(), edited: '' });
  for (const { id, rev = 0 } of lines) {
    if (rev > (memory.revs.get(id) ?? rev)) memory.edited = id;
    memory.revs.set(id, rev);
  }
  return lines.find(({ id }) => id === memory.edited)?.text.slice(0, SAID) ?? '';
}

/** An element of the log. */
type Item =
  | { readonly kind: 'day'; readonly key: string; readonly at: number }
  | { readonly kind: 'break'; readonly key: string }
  | {
      readonly kind: 'line';
      readonly key: string;
      readonly line: Line;
      /** The first of a group: lines of one side, written shortly after each other. */
      readonly first: boolean;
      /** The last of a group, which shows its time and state. */
      readonly last: boolean;
      /** Someone else than the reply before. */
      readonly isOther: boolean;
    };

const GROUP_GAP_MS = 5 * 60_000;

/** Groups the lines, and puts days and new conversations between them. */
function arrange(lines: readonly Line[], breaks: readonly number[]): Item[] {
  const items: Item[] = [];
  const open = [...breaks].sort((a, b) => a - b);
  let author = '';
  // Not `entries`, which Prototype.js replaces.
  lines.forEach((line, i) => {
    const { id: key, at, seq = Infinity } = line;
    const previous = lines[i - 1];
    const isNewDay = !previous || startOfDay(previous.at) !== startOfDay(at);
    let isBroken = false;
    for (; (open[0] ?? Infinity) < seq; open.shift()) isBroken = previous !== undefined;
    const first = isNewDay || isBroken || !isSameGroup(previous, line);
    const before = items.at(-1);
    if (first && before?.kind === 'line') items[items.length - 1] = { ...before, last: true };
    if (isNewDay) items.push({ kind: 'day', key: `day-${key}`, at });
    if (isBroken) items.push({ kind: 'break', key: `break-${key}` });
    const earlier = author;
    if (line.author) author = nameOf(line);
    const isOther = author !== earlier;
    items.push({ kind: 'line', key, line, first, last: i === lines.length - 1, isOther });
  });
  if (lines.length > 0 && open.length > 0) items.push({ kind: 'break', key: 'break' });
  return items;
}

const nameOf = ({ author }: Line): string => (author ? `${author.kind} ${author.name ?? ''}` : '');

const isSameGroup = (a: Line, b: Line): boolean =>
  a.from === b.from &&
  nameOf(a) === nameOf(b) &&
  b.at - a.at < GROUP_GAP_MS &&
  // A queued or failed line shows its own state.
  (a.state === 'queued') === (b.state === 'queued') &&
  a.state !== 'failed' &&
  b.state !== 'failed';
