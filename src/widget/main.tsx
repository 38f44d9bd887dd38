import { MAX_PAGE, type PageInfo } from '../channels/chat/events.ts';
import { createChat } from './engine/create-chat.ts';
import type { Main, MainOptions } from './main-part.ts';
import { SCRIPT_TAG } from './package/widget.ts';
import { pageStorage } from './storage.ts';
import { createApp } from './ui/app.tsx';

/** Draws the panel into the widget's shadow root, and connects a returning visitor. */
export function mount(options: MainOptions): Main {
  const storage = pageStorage();
  const { gatewayUrl, key, settings } = options;
  const chat = createChat({
    ...{ gatewayUrl, key, storage, page: window },
    pageInfo: settings.pageLine ? readPage : undefined,
  });
  // A new visitor is connected when they open the panel.
  if (options.hasSession) chat.start();
  return createApp(options, chat, storage);
}

/** Read when a message is sent: a page may change its title and the tag's `data-cart`. */
function readPage(): PageInfo {
  const cart = document.querySelector<HTMLElement>(SCRIPT_TAG)?.dataset['cart'];
  return {
    url: (location.origin + location.pathname).slice(0, MAX_PAGE.url),
    title: document.title.slice(0, MAX_PAGE.title),
    ...(cart && { cart: cart.slice(0, MAX_PAGE.cart) }),
  };
}
