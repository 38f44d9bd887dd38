import type { Line } from '../../engine/chat.ts';
import { wordsOf } from '../rich/words.ts';
import { saveBlob } from '../save-blob.ts';
import type { Ui } from '../ui.ts';

/** As many lines as a transcript has. */
const MAX_LINES = 2_000;

/** Saves what was written as a text file, earlier lines included; it says so when some are missing. */
export async function saveTranscript(ui: Ui): Promise<void> {
  const { chat, texts, locale } = ui;
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  let count = -1;
  while (chat.older.peek() !== 'none' && chat.lines.peek().length < MAX_LINES) {
    // No older lines have come: the gateway cannot be reached.
    if (count === chat.lines.peek().length) break;
    count = chat.lines.peek().length;
    await chat.loadOlder();
  }
  const written = chat.lines.peek().map((line) => {
    const files = line.files.map((file) => `[${file.name}]`);
    const words = [line.format === 'HTML' ? wordsOf(line, ui) : line.text, ...files]
      .filter(Boolean)
      .join('\n');
    return `${moment.format(line.at)}  ${nameOf(line, ui)}\n${words}\n`;
  });
  if (chat.older.peek() !== 'none') written.unshift(`(${texts.notAll})\n`);
  const blob = new Blob([written.join('\n')], { type: 'text/plain;charset=utf-8' });
  saveBlob(blob, `chat-${new Date().toISOString().slice(0, 10)}.txt`);
}

const nameOf = ({ from, author }: Line, { texts, settings }: Ui): string =>
  from === 'visitor' ? texts.you : (author?.name ?? settings.name ?? texts.title);
