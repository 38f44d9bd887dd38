import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Line } from '../engine/chat.ts';
import { lineInView, numberedIn } from './place.ts';
import { useUi } from './ui.ts';

/** A log that is nearer to its end counts as scrolled to the end. */
const END_PX = 48;
/** Older lines are fetched this long before the top is reached. */
const AHEAD_PX = 240;

/** As many lines are drawn at the end of the log, and so many more each time its top is reached. */
const DRAWN = 120;

/**
 * The lines to draw. Those far above the end are drawn when the visitor scrolls there: a line in the
 * document takes some 15 KB. What the visitor reads above the end stays.
 */
export function useDrawn(all: readonly Line[]) {
  const { isAtEnd } = useUi();
  const first = useRef(0);
  const [, redraw] = useState(0);
  const end = Math.max(0, all.length - DRAWN);
  if (isAtEnd.value || first.current > end) first.current = end;
  const lines = useMemo(() => all.slice(first.current), [all, first.current]);
  /** @returns whether there are more */
  const showMore = (): boolean => {
    if (first.current === 0) return false;
    first.current = Math.max(0, first.current - DRAWN);
    redraw((count) => count + 1);
    return true;
  };
  return { lines, showMore };
}

/**
 * Keeps the scroll position. At the end, the log stays at its end when lines are added or grow;
 * elsewhere a line in view stays where it is when those above it grow or are added, and on the next
 * page if the panel is open.
 */
export function useScroll({ lines, showMore }: ReturnType<typeof useDrawn>) {
  const { chat, isOpen, isAtEnd, place } = useUi();
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { current: known } = useRef({ lines, height: 0, top: 0 });
  const [hasNewLines, setNewLines] = useState(false);

  /** The kept line is further up than the lines that are drawn: older ones are being fetched. */
  const isSought = (): boolean =>
    (known.lines[0]?.seq ?? Infinity) > (place.peek()?.seq ?? Infinity) &&
    chat.older.peek() !== 'none';
  const measure = (log: HTMLElement): void => {
    known.height = log.scrollHeight - log.clientHeight;
    known.top = log.scrollTop;
    isAtEnd.value = !isSought() && known.height - known.top < END_PX;
    if (!isAtEnd.peek()) return;
    place.value = undefined;
    setNewLines(false);
  };
  /** Keeps the place to which the visitor has scrolled. */
  const note = (log: HTMLElement): void => {
    const last = place.peek()?.last ?? lastNumber(known.lines);
    place.value = undefined;
    measure(log);
    const visitorId = chat.session.peek()?.visitorId;
    const line = lineInView(log);
    if (!isAtEnd.peek() && line && visitorId) place.value = { visitorId, ...line, last };
  };
  const toEnd = (): void => {
    if (!box.current) return;
    place.value = undefined;
    box.current.scrollTop = box.current.scrollHeight;
    measure(box.current);
  };
  /** Called when what is drawn, or its size, has changed. */
  const stay = (): void => {
    const log = box.current;
    if (!log?.clientHeight) {
      // The page hides the log. Browsers differ in how it is scrolled when it is shown again.
      known.top = NaN;
      return;
    }
    const kept = place.peek();
    const line = kept && numberedIn(log).find((each) => each.seq >= kept.seq);
    const visitorId = chat.session.peek()?.visitorId ?? kept?.visitorId;
    const most = log.scrollHeight - log.clientHeight;
    // By how much the visitor has scrolled since the last event. If there is less to scroll than
    // before, the browser has scrolled too, which does not count.
    const moved = log.scrollTop - Math.min(known.top, most) || 0;
    if (kept && visitorId !== kept.visitorId) toEnd();
    else if (isSought()) measure(log);
    else if (isAtEnd.peek() ? moved > -1 : kept && !line) toEnd();
    else {
      const by = kept && line ? kept.px - line.px + moved : 0;
      // In Safari, setting `scrollTop`, even to its present value, stops a scroll in motion.
      if (Math.abs(by) > 0.5) log.scrollTop += by;
      if (moved === 0) measure(log);
      else note(log);
    }
  };
  const fetchOlder = (): void => {
    if (!isOpen.peek() || known.top >= AHEAD_PX || showMore() || chat.older.peek() !== 'some')
      return;
    const before = chat.lines.peek();
    void chat.loadOlder().then(() => {
      // The older lines could not be fetched, and nothing else would continue the search.
      if (isSought() && chat.lines.peek() === before) toEnd();
    });
  };

  useLayoutEffect(() => {
    const before = known.lines;
    const last = lines.at(-1);
    const isOwnNew =
      last?.from === 'visitor' && last.seq === undefined && last.id !== before.at(-1)?.id;
    known.lines = lines;
    if (isOwnNew || (before.length > 0 && lines.length === 0)) toEnd();
    else stay();
    const lastBefore = place.peek()?.last ?? lastNumber(before);
    const reply = lines.findLast(({ from }) => from === 'agent')?.seq ?? 0;
    if (!isAtEnd.peek() && !isSought() && reply > lastBefore) setNewLines(true);
    fetchOlder();
  }, [lines, isOpen.value]);

  useLayoutEffect(() => {
    const observer = new ResizeObserver(stay);
    for (const { current } of [box, content]) if (current) observer.observe(current);
    // The browser scrolls a log to its top that the page has taken out and that is back.
    const returns = new MutationObserver(() => {
      known.top = NaN;
      stay();
    });
    returns.observe(document.documentElement, { childList: true });
    return () => {
      observer.disconnect();
      returns.disconnect();
    };
  }, []);

  return {
    box,
    content,
    hasNewLines,
    toEnd,
    onScroll: () => {
      const log = box.current;
      if (!log) return;
      // If the height has changed as well, the content may have grown: the end is followed.
      if (isAtEnd.peek() && known.height !== log.scrollHeight - log.clientHeight) stay();
      // An event whose position is known is the echo of our own scrolling.
      else if (known.top !== log.scrollTop) note(log);
      fetchOlder();
    },
  };
}

const lastNumber = (lines: readonly Line[]): number => lines.findLast(({ seq }) => seq)?.seq ?? 0;
