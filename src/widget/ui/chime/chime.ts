import { pageStorage, readNote, writeNote } from '../../storage.ts';

/** Hidden tabs let a visible one go first. */
const HIDDEN_WAIT_MS = 300;
/** Longer than the tabs take to get the same reply. */
const HELD_MS = 3_000;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Plays the chime for a reply once, in one of the visitor's tabs: the first that gets the lock.
 * @param prefix of the widget's notes in the browser's storage
 */
export async function chimeInOneTab(id: string, prefix: string): Promise<void> {
  if (document.hidden) await delay(HIDDEN_WAIT_MS);
  // Only pages over https have locks.
  const { locks } = navigator as Partial<Navigator>;
  if (!locks && !document.hidden) chimeOnce(id, prefix);
  await locks?.request(`sluice:chime:${id}`, { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    chimeOnce(id, prefix);
    await delay(HELD_MS);
  });
}

/** A reply that stays unread is new to each page. */
function chimeOnce(id: string, prefix: string): void {
  const storage = pageStorage();
  const key = `${prefix}chimed`;
  if (readNote(storage, key) === id) return;
  writeNote(storage, key, id);
  playChime();
}

/** Two soft notes, up a fourth. */
const NOTES_HZ = [587.3, 784];
const NOTE_S = 0.11;
const LOUDNESS = 0.06;

let context: AudioContext | undefined;

/** Plays a short tone, unless the browser forbids it. */
export function playChime(): void {
  try {
    const playing = (context ??= new AudioContext());
    void context.resume().catch(() => undefined);
    NOTES_HZ.forEach((hertz, i) => note(playing, hertz, i * NOTE_S));
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
