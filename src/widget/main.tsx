import { createChat } from './engine/create-chat.ts';
import type { Main, MainOptions } from './main-part.ts';
import { pageStorage } from './storage.ts';
import { createApp } from './ui/app.tsx';

/** Draws the panel into the widget's shadow root, and connects a returning visitor. */
export function mount(options: MainOptions): Main {
  const storage = pageStorage();
  const { gatewayUrl, key, pageInfo } = options;
  const chat = createChat({ gatewayUrl, key, storage, page: window, pageInfo });
  // A new visitor is connected when they open the panel.
  if (options.hasSession) chat.start();
  return createApp(options, chat, storage);
}
