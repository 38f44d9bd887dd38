/** Two soft notes, up a fourth. */
const NOTES_HZ = [587.3, 784];
const NOTE_S = 0.11;
const LOUDNESS = 0.06;

let context: AudioContext | undefined;

/** A short tone; silence where the browser does not let a page make any. */
export function chime(): void {
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
