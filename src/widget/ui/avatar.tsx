import { useEffect, useState } from 'preact/hooks';
import type { Author } from '../../channels/chat/events.ts';
import { Thumbnail } from './thumbnail.tsx';
import { Icon } from './icon.tsx';
import { type Ui, useUi } from './ui.ts';

/** Who answers now: the author of the last reply that has one, else the shop's agent. */
export const answering = ({ chat, settings }: Ui): Author | undefined =>
  chat.lines.value.findLast(({ author }) => author)?.author ?? settings.agent;

/**
 * Who writes: the picture, else the initials of the name; for someone without a name, what stands for
 * the shop. A logo that the page's policy blocks counts as none. The assistant has the shop's colour,
 * people are grey: no further colour clashes with the accent.
 */
export function Avatar({
  author,
  px = 28,
}: {
  readonly author?: Author | undefined;
  readonly px?: number;
}) {
  const { pictureOf, settings } = useUi();
  const [picture, setPicture] = useState<Blob | undefined>();
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    let isGone = false;
    setPicture(undefined);
    if (author?.picture) {
      void pictureOf(author).then((blob) => {
        if (!isGone) setPicture(blob);
      });
    }
    return () => {
      isGone = true;
    };
  }, [author?.picture]);
  const { logo } = settings;
  const name = author?.name ?? settings.name;
  const isOwn = author?.name !== undefined;
  const content = (() => {
    if (picture)
      return (
        <Thumbnail blob={picture} width={px} height={px} onBroken={() => setPicture(undefined)} />
      );
    if (logo && !isBroken && !isOwn)
      return <img src={logo} alt="" onError={() => setBroken(true)} />;
    return name ? initialsOf(name) : <Icon name="person" />;
  })();
  return (
    <span class={author?.kind === 'person' ? 'avatar person' : 'avatar'} aria-hidden="true">
      {content}
    </span>
  );
}

/** The first letters of the first two words. */
const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();
