import { effect } from '@preact/signals-core';
import type { MainOptions } from '../main-part.ts';
import type { Ui } from './ui.ts';

/**
 * Tells the page, the launcher, the tab's title and, when wanted, the ear, what happens in the
 * conversation; and the conversation, when the visitor looks at it.
 */
export function announce(ui: Ui, options: MainOptions): void {
  announceLines(ui, options);
  announceUnread(ui, options);
  announceRefusals(ui, options);
}

/** Lines that come while this page is there, and replies that the visitor has not seen yet. */
function announceLines({ chat, hasSound }: Ui, { emit }: MainOptions): void {
  const told = new Set<string>();
  let after: number | undefined;
  effect(() => {
    const lines = chat.lines.value;
    const session = chat.session.value;
    if (!session) {
      after = undefined;
      return;
    }
    // What was said before this page, and seen, is no news.
    after ??= session.seenSeq;
    let hasReply = false;
    for (const { id, seq, from, text, at } of lines) {
      if (seq === undefined || seq <= after || told.has(id)) continue;
      told.add(id);
      hasReply ||= from === 'agent';
      emit('message', { id, from, text, at });
    }
    if (hasReply && hasSound.peek()) playChime();
  });
}

/** The count shows while the visitor looks elsewhere: on the launcher, and before the tab's title. */
function announceUnread({ chat, isOpen, isAtEnd }: Ui, { emit }: MainOptions): void {
  let title: string | undefined;
  let count = 0;
  const putTitle = (): void => {
    const isNeeded = document.hidden && count > 0;
    if (isNeeded) title ??= document.title;
    if (title === undefined) return;
    document.title = isNeeded ? `(${count}) ${title}` : title;
    if (!isNeeded) title = undefined;
  };
  const look = (): void => {
    if (isOpen.value && isAtEnd.value && !document.hidden && chat.unread.value > 0) chat.markSeen();
  };
  effect(look);
  effect(() => {
    const now = chat.unread.value;
    if (now !== count) emit('unread', (count = now));
    putTitle();
  });
  document.addEventListener('visibilitychange', () => {
    look();
    putTitle();
  });
}

/** The visitor reads that it is not available; what to do about it is for the page's developer. */
function announceRefusals(
  { chat, texts, errorText }: Ui,
  { emit, gatewayUrl, key }: MainOptions,
): void {
  let told = '';
  effect(() => {
    const connection = chat.connection.value;
    const code = connection.state === 'refused' ? connection.code : '';
    if (code === told) return;
    told = code;
    if (code === '') return;
    // It lasts for a moment, since the visitor is let in without it: what is said must last longer.
    if (code === 'bad_identity') errorText.value = texts.notSignedIn;
    const advice = adviceFor(code, gatewayUrl, key);
    // eslint-disable-next-line no-console -- for the page's developer, who can mend it
    if (advice !== undefined) console.error(advice);
    emit('error', { code });
  });
}

/** What the page's developer reads in the console, and what to do about it. */
function adviceFor(code: string, gatewayUrl: string, key: string): string | undefined {
  switch (code) {
    case 'unknown_key':
      return `Sluice: ${gatewayUrl} has no chat with the key "${key}" (data-key).`;
    case 'origin':
      return `Sluice: add ${location.origin} to the chat's origins in the gateway's configuration.`;
    case 'bad_identity':
      return 'Sluice: the JWT was refused. It needs HS256, sub, aud (the chat key) and exp (1 h at most).';
    default:
      return undefined;
  }
}

/** Two soft notes, up a fourth. */
const NOTES_HZ = [587.3, 784];
const NOTE_S = 0.11;
const LOUDNESS = 0.06;

let context: AudioContext | undefined;

/** A short tone; silence where the browser does not let a page make any. */
export function playChime(): void {
  try {
    context ??= new AudioContext();
    void context.resume().catch(() => undefined);
    for (const [i, hertz] of NOTES_HZ.entries()) note(context, hertz, i * NOTE_S);
  } catch {
    // No sound device, or not allowed before the visitor has touched the page.
  }
}

function note(audio: AudioContext, hertz: number, afterS: number): void {
  const start = audio.currentTime + afterS;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = hertz;
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(LOUDNESS, start + 0.01);
  volume.gain.exponentialRampToValueAtTime(0.000_1, start + 3 * NOTE_S);
  tone.connect(volume).connect(audio.destination);
  tone.start(start);
  tone.stop(start + 3 * NOTE_S);
}
