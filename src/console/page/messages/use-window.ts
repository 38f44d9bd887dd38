import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { type ListWindow, visibleRows } from './window.ts';

const PHONE = '(max-width: 720px)';
const ROW_PX = 46;
const PHONE_ROW_PX = 78;

/** The height of a row, which the style sheet has as well. */
export function useRowHeight(): number {
  const [isPhone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const media = matchMedia(PHONE);
    const onChange = () => setPhone(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isPhone ? PHONE_ROW_PX : ROW_PX;
}

/** How far the page's body is scrolled into an element, and how much of the screen is left to it. */
export function viewOf(element: HTMLElement): { scrollTop: number; viewHeight: number } {
  const { top } = element.getBoundingClientRect();
  return { scrollTop: Math.max(0, -top), viewHeight: innerHeight - Math.max(0, top) };
}

/** Which rows of a list of `total` are on the screen; looks again as the page scrolls. */
export function useWindow(
  body: RefObject<HTMLElement | null>,
  rowHeight: number,
  total: number,
): ListWindow {
  const [shown, setShown] = useState<ListWindow>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      if (body.current === null) return;
      const { scrollTop, viewHeight } = viewOf(body.current);
      const next = visibleRows(scrollTop, viewHeight, rowHeight, total);
      setShown((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', later, { passive: true });
    addEventListener('resize', later);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', later);
      removeEventListener('resize', later);
    };
  }, [rowHeight, total]);
  return shown;
}
