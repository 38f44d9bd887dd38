import { useEffect, useState } from 'preact/hooks';
import { useUi } from './ui.ts';
import { fill } from '../texts/fill.ts';
import { Avatar } from './avatar.tsx';
import { Tool } from './tool.tsx';
import { Menu } from './menu.tsx';

/** A connection that takes longer than this is worth a word. */
const PATIENCE_MS = 1_500;

export function Header() {
  const { chat, texts, settings, close } = useUi();
  const session = chat.session.value;
  const isConnecting = chat.connection.value.state === 'connecting';
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(isConnecting), isConnecting ? PATIENCE_MS : 0);
    return () => clearTimeout(timer);
  }, [isConnecting]);

  const person = session?.verified ? (session.name ?? session.email) : undefined;
  const note = isSlow ? texts.connecting : person && fill(texts.signedIn, person);
  return (
    <header>
      <Avatar />
      <div class="who">
        <h2 dir="auto">{settings.name ?? texts.title}</h2>
        {note && <p>{note}</p>}
      </div>
      <Menu />
      <Tool icon="down" label={texts.minimize} onClick={close} />
    </header>
  );
}
