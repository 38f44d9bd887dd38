import { createChat } from './engine/create-chat.ts';
import type { Main, MainOptions } from './main-part.ts';
import { pageStorage } from './storage.ts';
// The build puts the visitor's language in its place: each has a bundle of its own.
import { texts } from './texts/en.ts';
import { createApp } from './ui/app.tsx';

/** Draws the panel into the widget's shadow root, and connects a visitor who has been here. */
export function mount(options: MainOptions): Main {
  const storage = pageStorage();
  const { gatewayUrl, key } = options;
  const chat = createChat({ gatewayUrl, key, storage, page: window });
  // Without it there is nobody yet to connect: opening does.
  if (options.hasSession) chat.start();
  return createApp(options, chat, texts, storage);
}
