import { effect } from '@preact/signals-core';
import type { Line } from '../engine/chat.ts';
import type { MainOptions } from '../main-part.ts';
import { storagePrefix } from '../storage.ts';
import type { Parts } from './part/part.tsx';
import type { Ui } from './ui.ts';

/**
 * Reports new lines, the unread count and refusals to the page, and updates the tab's title. Plays
 * the chime when sound is on, and marks lines as seen when they are on the screen.
 */
export function announce(ui: Ui, parts: Parts, options: MainOptions): void {
  announceLines(ui, parts, options);
  announceUnread(ui, options);
  announceRefusals(ui, parts, options);
}

/** Emits `message` for lines that arrive while the page is open, and for unseen replies. */
function announceLines(
  { chat, hasSound }: Ui,
  parts: Parts,
  { emit, gatewayUrl, key }: MainOptions,
): void {
  const reported = new Set<string>();
  let after: Readonly<Record<Line['from'], number>> | undefined;
  effect(() => {
    const lines = chat.lines.value;
    const session = chat.session.value;
    if (!session) {
      after = undefined;
      return;
    }
    // Lines that were written, or seen, before this page was opened are not reported.
    after ??= { visitor: session.lastSeq, agent: session.seenSeq };
    let hasReply = false;
    for (const { id, seq, from, text, at } of lines) {
      if (seq === undefined || seq <= after[from] || reported.has(id)) continue;
      reported.add(id);
      hasReply ||= from === 'agent';
      emit('message', { id, from, text, at });
    }
    // The newest one: on another page they may come in another order.
    const reply = hasReply && lines.findLast(({ from }) => from === 'agent')?.id;
    if (reply && hasSound.peek()) {
      // Without the file there is no sound.
      parts.chime().then(
        ({ chimeInOneTab }) => chimeInOneTab(reply, storagePrefix(gatewayUrl, key)),
        () => undefined,
      );
    }
  });
}

/** Emits `unread`, and shows the count in the tab's title while the tab is hidden. */
function announceUnread({ chat, isOpen, isAtEnd }: Ui, { emit, removed }: MainOptions): void {
  let count = 0;
  /** The page's title, and what this tab has made of it. */
  let title = '';
  let ours: string | undefined;
  const updateTitle = (): void => {
    // The page may have set another one meanwhile, which is its own.
    if (document.title !== ours) title = document.title;
    else document.title = title;
    ours = undefined;
    if (!document.hidden || count === 0 || removed.aborted) return;
    document.title = `(${count}) ${title}`;
    // As the browser gives it back: with its white space collapsed.
    ours = document.title;
  };
  const markSeenIfVisible = (): void => {
    if (isOpen.value && isAtEnd.value && !document.hidden && chat.unread.value > 0) chat.markSeen();
  };
  effect(() => {
    // First, so that what is being read is never counted.
    markSeenIfVisible();
    const now = chat.unread.value;
    if (now !== count) emit('unread', (count = now));
    updateTitle();
  });
  const onVisibility = (): void => {
    markSeenIfVisible();
    updateTitle();
  };
  document.addEventListener('visibilitychange', onVisibility, { signal: removed });
  removed.addEventListener('abort', updateTitle);
}

/** Emits `error`, and tells the page's developer in the console what to do about it. */
function announceRefusals(
  ui: Ui,
  parts: Parts,
  { emit, gatewayUrl, key, settings }: MainOptions,
): void {
  const { chat, errorText } = ui;
  let reported = '';
  effect(() => {
    const connection = chat.connection.value;
    const code = connection.state === 'refused' ? connection.code : '';
    if (code === reported) return;
    reported = code;
    if (code === '') return;
    // The refusal lasts only a moment, because the tab connects again without the JWT; the text
    // stays.
    if (code === 'bad_identity') errorText.value = ui.texts.notSignedIn;
    parts.advice().then(
      ({ advise }) => advise(code, gatewayUrl, key),
      () => undefined,
    );
    // The loader has told the page what the gateway said before.
    if (code !== settings.error) emit('error', { code });
  });
}
