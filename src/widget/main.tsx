import { createChat } from './engine/create-chat.ts';
import { MAX_PAGE, type PageInfo } from '../channels/chat/events.ts';
import type { Main, MainOptions } from './main-part.ts';
import { pageStorage } from './storage.ts';
import { createApp } from './ui/app.tsx';

/** Draws the panel into the widget's shadow root, and connects a returning visitor. */
export function mount(options: MainOptions): Main {
  const storage = pageStorage();
  const { gatewayUrl, key, settings, tag } = options;
  // For shops that want to know where a visitor writes.
  const pageInfo = settings.pageLine ? () => readPage(tag) : undefined;
  const chat = createChat({
    ...{ gatewayUrl, key, storage, page: window, pageInfo },
    refused: settings.error,
  });
  // A new visitor is connected when they open the panel.
  if (options.hasSession) chat.start();
  return createApp(options, chat, storage);
}

/** Read when a message is sent: a page may change its title and the tag's `data-cart`. */
function readPage({ cart }: DOMStringMap): PageInfo {
  return {
    url: (location.origin + location.pathname).slice(0, MAX_PAGE.url),
    title: document.title.slice(0, MAX_PAGE.title),
    ...(cart && { cart: cart.slice(0, MAX_PAGE.cart) }),
  };
}
