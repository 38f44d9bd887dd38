import { useEffect, useState } from 'preact/hooks';
import { useUi } from './ui.ts';
import { fill } from '../texts/fill.ts';

/** A text whose `#` is the time until then, "in 5 seconds". */
export function Countdown({ text, until }: { readonly text: string; readonly until: number }) {
  const { formats } = useUi();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  // Only the sentence is for the ear, not each of its seconds.
  return <span aria-live="off">{fill(text, formats.inSeconds(seconds))}</span>;
}
