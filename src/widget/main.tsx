import { createChat } from './engine/create-chat.ts';
import type { Main, MainOptions } from './main-part.ts';
import { pageStorage } from './storage.ts';
// The build replaces this file by another language's: each language has its own bundle.
import texts from './texts/en.json';
import { createApp } from './ui/app.tsx';

/** Draws the panel into the widget's shadow root, and connects a returning visitor. */
export function mount(options: MainOptions): Main {
  const storage = pageStorage();
  const { gatewayUrl, key } = options;
  const chat = createChat({ gatewayUrl, key, storage, page: window });
  // A new visitor is connected when they open the panel.
  if (options.hasSession) chat.start();
  return createApp(options, chat, texts, storage);
}
