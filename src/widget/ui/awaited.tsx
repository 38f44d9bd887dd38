import { useEffect, useState } from 'preact/hooks';
import type { Line } from '../engine/chat.ts';
import { answering, Avatar } from './avatar.tsx';
import { useUi } from './ui.ts';

/** Nobody types for longer; from then on, dots would promise what may not come. */
const LATE_MS = 30_000;

/**
 * Below the visitor's last message until its answer: three dots, and after half a minute what really
 * holds. Nothing without a connection, since then the answer could not arrive.
 */
export function Awaited() {
  const { chat } = useUi();
  const last = chat.lines.value.at(-1);
  const isWaiting =
    last?.from === 'visitor' &&
    ['accepted', 'delivered', 'seen'].includes(last.state) &&
    // The conversation goes on.
    !chat.breaks.value.includes(last.seq ?? 0) &&
    chat.connection.value.state === 'online';
  return isWaiting ? <Shown key={last.id} line={last} /> : null;
}

function Shown({ line }: { readonly line: Line }) {
  const ui = useUi();
  // The clocks of browser and gateway differ.
  const leftMs = Math.min(LATE_MS, line.at + LATE_MS - Date.now());
  const [isLate, setLate] = useState(leftMs <= 0);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), leftMs);
    return () => clearTimeout(timer);
  }, []);
  if (isLate) return <p class="meta awaited">{ui.texts.answeredHere}</p>;
  return (
    // Screen readers would say it after each message.
    <div class="line" data-from="agent" data-first data-last aria-hidden="true">
      <Avatar author={answering(ui)} />
      <div class="say dots">
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}
