import { effect } from '@preact/signals-core';
import type { MainOptions } from '../main-part.ts';
import type { Ui } from './ui.ts';

/**
 * Reports new lines, the unread count and refusals to the page, and updates the tab's title. Plays
 * the chime when sound is on, and marks lines as seen when they are on the screen.
 */
export function announce(ui: Ui, options: MainOptions): void {
  announceLines(ui, options);
  announceUnread(ui, options);
  announceRefusals(ui, options);
}

/** Emits `message` for lines that arrive while the page is open, and for unseen replies. */
function announceLines({ chat, hasSound }: Ui, { emit }: MainOptions): void {
  const reported = new Set<string>();
  let after: number | undefined;
  effect(() => {
    const lines = chat.lines.value;
    const session = chat.session.value;
    if (!session) {
      after = undefined;
      return;
    }
    // Lines that were seen before this page was opened are not reported.
    after ??= session.seenSeq;
    let reply = '';
    for (const { id, seq, from, text, at } of lines) {
      if (seq === undefined || seq <= after || reported.has(id)) continue;
      reported.add(id);
      if (from === 'agent') reply = id;
      emit('message', { id, from, text, at });
    }
    if (reply && hasSound.peek()) void chimeInOneTab(reply);
  });
}

/** Emits `unread`, and shows the count in the tab's title while the tab is hidden. */
function announceUnread({ chat, isOpen, isAtEnd }: Ui, { emit, removed }: MainOptions): void {
  let title: string | undefined;
  let count = 0;
  const updateTitle = (): void => {
    const isNeeded = document.hidden && count > 0;
    if (isNeeded) title ??= document.title;
    if (title === undefined) return;
    document.title = isNeeded ? `(${count}) ${title}` : title;
    if (!isNeeded) title = undefined;
  };
  const markSeenIfVisible = (): void => {
    if (isOpen.value && isAtEnd.value && !document.hidden && chat.unread.value > 0) chat.markSeen();
  };
  effect(markSeenIfVisible);
  effect(() => {
    const now = chat.unread.value;
    if (now !== count) emit('unread', (count = now));
    updateTitle();
  });
  const onVisibility = (): void => {
    markSeenIfVisible();
    updateTitle();
  };
  document.addEventListener('visibilitychange', onVisibility, { signal: removed });
}

/** Emits `error`, and tells the page's developer in the console what to do about it. */
function announceRefusals(ui: Ui, { emit, gatewayUrl, key }: MainOptions): void {
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
    const advice = adviceFor(code, gatewayUrl, key);
    // oxlint-disable-next-line no-console -- for the page's developer
    if (advice !== undefined) console.error(advice);
    emit('error', { code });
  });
}

/** For the page's developer: why the gateway refuses, and what to do about it. */
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

/** Hidden tabs let a visible one go first. */
const HIDDEN_WAIT_MS = 300;
/** Longer than the tabs take to get the same reply. */
const HELD_MS = 3_000;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Plays the chime for a reply in one of the visitor's tabs: the first that gets the lock. */
async function chimeInOneTab(id: string): Promise<void> {
  if (document.hidden) await delay(HIDDEN_WAIT_MS);
  // Only pages over https have locks.
  const { locks } = navigator as Partial<Navigator>;
  if (!locks && !document.hidden) playChime();
  await locks?.request(`sluice:chime:${id}`, { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    playChime();
    await delay(HELD_MS);
  });
}

/** Two soft notes, up a fourth. */
const NOTES_HZ = [587.3, 784];
const NOTE_S = 0.11;
const LOUDNESS = 0.06;

let context: AudioContext | undefined;

/** Plays a short tone, unless the browser forbids it. */
export function playChime(): void {
  try {
    context ??= new AudioContext();
    void context.resume().catch(() => undefined);
    for (const [i, hertz] of NOTES_HZ.entries()) note(context, hertz, i * NOTE_S);
  } catch {
    // There is no sound device, or the visitor has not interacted with the page yet.
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
