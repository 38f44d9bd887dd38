import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Line } from '../engine/chat.ts';
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
    redraw(first.current);
    return true;
  };
  return { lines, showMore };
}

/**
 * Keeps the scroll position. At the end, the log stays at its end when lines are added or grow;
 * elsewhere the first line that begins in the visible part stays in place: when lines above it grow
 * or are added, and on the next page if the panel is open.
 */
export function useScroll({ lines, showMore }: ReturnType<typeof useDrawn>) {
  const { chat, isOpen, isAtEnd, keptPlace } = useUi();
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { current: known } = useRef({ lines, height: 0, top: 0 });
  const [hasNewLines, setNewLines] = useState(false);

  const note = (): void => {
    if (!box.current) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    known.height = scrollHeight - clientHeight;
    known.top = scrollTop;
    isAtEnd.value = known.height - scrollTop < END_PX;
  };
  const notePlace = (): void => {
    note();
    if (isAtEnd.peek()) setNewLines(false);
    keptPlace.value = isAtEnd.peek() || !box.current ? '' : placeOf(box.current, known.lines);
  };
  const toEnd = (): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    notePlace();
  };
  const fetchOlder = (): void => {
    if (!box.current || !isOpen.peek()) return;
    if (box.current.scrollTop >= AHEAD_PX || showMore()) return;
    if (chat.older.peek() === 'some') void chat.loadOlder();
  };
  /** @returns false: no place is kept, or its line is not there */
  const toKept = (log: HTMLElement): boolean => {
    const [seq = 0, px = 0, last = 0] = keptPlace.peek().split(' ').map(Number);
    // Only a new line of the visitor's has no number.
    const line = known.lines.find((each) => (each.seq ?? Infinity) >= seq);
    // On the next page it may be further up than what has been loaded.
    const isAbove = line === known.lines[0] && line?.seq !== seq && chat.older.peek() !== 'none';
    const element = line ? elementOf(log, line) : null;
    if (seq === 0 || (!isAbove && !element)) return false;
    const { scrollHeight, scrollTop, clientHeight } = log;
    // By the visitor since the last event, and not by the browser because there is less to scroll.
    const moved = scrollTop - Math.min(known.top, scrollHeight - clientHeight);
    if (element && !isAbove) log.scrollTop = element.offsetTop + px + moved;
    if (moved === 0) note();
    else notePlace();
    if (lastReply(known.lines) > last) setNewLines(true);
    fetchOlder();
    return true;
  };
  /** What is drawn has changed. */
  const stay = (): void => {
    if (box.current && toKept(box.current)) return;
    if (isAtEnd.peek()) toEnd();
    else notePlace();
  };

  useLayoutEffect(() => {
    const before = known.lines;
    const last = lines.at(-1);
    const isOwnNew = last?.from === 'visitor' && last.id !== before.at(-1)?.id;
    known.lines = lines;
    if (before.length > 0 && (isOwnNew || lines.length === 0)) toEnd();
    else stay();
    fetchOlder();
  }, [lines]);

  useLayoutEffect(() => {
    const observer = new ResizeObserver(stay);
    for (const { current } of [box, content]) if (current) observer.observe(current);
    return () => observer.disconnect();
  }, []);

  return {
    box,
    content,
    hasNewLines,
    toEnd,
    onScroll: () => {
      const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
      // When the height has changed, the visitor has not scrolled: the content has grown.
      if (isAtEnd.peek() && known.height !== scrollHeight - clientHeight) stay();
      // Nor when it is where it was put.
      else if (scrollTop !== known.top) notePlace();
      fetchOlder();
    },
  };
}

/** The number of the line that stays, the pixels of it above the visible part, and the last reply's number. */
function placeOf(log: HTMLElement, lines: readonly Line[]): string {
  const { scrollTop, clientHeight } = log;
  const drawn = [...log.querySelectorAll<HTMLElement>('[data-line]')];
  const isBelow = ({ offsetTop }: HTMLElement): boolean => offsetTop >= scrollTop;
  const first =
    drawn.find((each) => isBelow(each) && each.offsetTop < scrollTop + clientHeight) ??
    // It is higher than the visible part.
    drawn.findLast((each) => !isBelow(each));
  const line = lines.find(({ id }) => id === first?.dataset['line']);
  if (!first || !line) return '';
  return [line.seq ?? Infinity, scrollTop - first.offsetTop, lastReply(lines)].join(' ');
}

const lastReply = (lines: readonly Line[]): number =>
  lines.findLast(({ from }) => from === 'agent')?.seq ?? 0;

const elementOf = (log: HTMLElement, { id }: Line): HTMLElement | null =>
  log.querySelector(`[data-line="${CSS.escape(id)}"]`);
