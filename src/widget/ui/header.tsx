import { useDelayed } from './banner.tsx';
import { fill } from './formats.ts';
import { answering, Avatar } from './avatar.tsx';
import { Icon, IconButton } from './icon.tsx';
import { Part } from './part/part.tsx';
import { Popover } from './popover.tsx';
import { useUi } from './ui.ts';

/** If connecting takes longer than this, the header says so. */
const SLOW_AFTER_MS = 1_500;

export function Header() {
  const ui = useUi();
  const { chat, texts, settings, formats, hasSound, close } = ui;
  const session = chat.session.value;
  const isSlow = useDelayed(chat.connection.value.state === 'connecting', SLOW_AFTER_MS);
  const person = session?.verified ? (session.name ?? session.email) : undefined;
  const author = answering(ui);
  const away = ui.awayUntil.value;
  const note = isSlow
    ? texts.connecting
    : away
      ? fill(texts.away, `${formats.day(away, Date.now())}, ${formats.time(away)}`)
      : author && texts[author.kind];
  return (
    <header>
      <Avatar author={author} px={36} />
      <div class="who">
        <h2>
          <bdi>{author?.name ?? settings.name ?? texts.title}</bdi>
        </h2>
        {note && <p>{note}</p>}
        {person && <p>{fill(texts.signedIn, person)}</p>}
      </div>
      {hasSound.value && (
        <span class="tool" role="img" aria-label={texts.sound} title={texts.sound}>
          <Icon name="sound" />
        </span>
      )}
      <Menu />
      <IconButton icon="down" label={texts.minimize} onClick={close} />
    </header>
  );
}

function Menu() {
  const { texts } = useUi();
  return (
    <Popover
      kind="menu"
      class="menu"
      icon="more"
      label={texts.more}
      content={(close) => <Part of="menu" draw={({ MenuItems }) => <MenuItems close={close} />} />}
    />
  );
}
