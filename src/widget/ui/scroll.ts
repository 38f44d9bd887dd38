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
 * elsewhere the visible lines stay in place, also when older lines are added before them.
 */
export function useScroll({ lines, showMore }: ReturnType<typeof useDrawn>) {
  const { chat, isOpen, isAtEnd } = useUi();
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const place = useRef({
    isAtEnd: true,
    fromEnd: 0,
    height: 0,
    rev: revOf(lines),
    first: lines[0]?.id,
    last: lines.at(-1)?.id,
  });
  const [hasNewLines, setNewLines] = useState(false);

  const toEnd = (): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    note();
  };
  const note = (): void => {
    if (!box.current) return;
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    place.current.fromEnd = scrollHeight - scrollTop;
    place.current.height = scrollHeight - clientHeight;
    place.current.isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX;
    isAtEnd.value = place.current.isAtEnd;
    if (place.current.isAtEnd) setNewLines(false);
  };
  const fetchOlder = (): void => {
    if (!box.current || !isOpen.peek()) return;
    if (box.current.scrollTop >= AHEAD_PX || showMore()) return;
    if (chat.older.peek() === 'some') void chat.loadOlder();
  };

  useLayoutEffect(() => {
    const { current } = place;
    const last = lines.at(-1);
    const isOwnNew = last?.id !== current.last && last?.from === 'visitor';
    const isPrepended = lines[0]?.id !== current.first && last?.id === current.last;
    const edited = lines.find(({ rev = 0 }) => rev > current.rev);
    if (current.isAtEnd || isOwnNew) toEnd();
    else if (isPrepended && box.current)
      box.current.scrollTop = box.current.scrollHeight - current.fromEnd;
    else if (edited && box.current) keepBelow(box.current, edited.id, current.fromEnd);
    else if (last?.id !== current.last) setNewLines(true);
    current.first = lines[0]?.id;
    current.last = last?.id;
    current.rev = revOf(lines);
    note();
    fetchOlder();
  }, [lines]);

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      if (place.current.isAtEnd) toEnd();
    });
    for (const { current } of [box, content]) if (current) observer.observe(current);
    return () => observer.disconnect();
  }, []);

  return {
    box,
    content,
    hasNewLines,
    toEnd,
    onScroll: () => {
      const { scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
      // When the height has changed, the visitor has not scrolled: the content has grown.
      if (place.current.isAtEnd && place.current.height !== scrollHeight - clientHeight) toEnd();
      else note();
      fetchOlder();
    },
  };
}

const revOf = (lines: readonly Line[]): number =>
  lines.reduce((highest, { rev = 0 }) => Math.max(highest, rev), 0);

/** When a line that begins above the visible part has changed, what is below it stays in place. */
function keepBelow(box: HTMLElement, id: string, fromEnd: number): void {
  const line = box.querySelector(`[data-line="${CSS.escape(id)}"]`);
  if (!line || line.getBoundingClientRect().top >= box.getBoundingClientRect().top) return;
  box.scrollTop = box.scrollHeight - fromEnd;
}
