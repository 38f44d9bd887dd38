import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { SluiceChat } from '@sluice-gateway/sluice/react';
import type { Widget } from '@sluice-gateway/sluice/widget';

const GATEWAY: string = import.meta.env['VITE_GATEWAY'] ?? 'http://localhost:8080';
const KEY: string = import.meta.env['VITE_KEY'] ?? 'demo';

function Shop() {
  const [unread, setUnread] = useState(0);
  const [widget, setWidget] = useState<Widget>();
  const [isChatShown, setChatShown] = useState(true);
  const [shoes, setShoes] = useState(0);
  return (
    <main>
      <h1>A shop</h1>
      <p>
        <button onClick={() => widget?.open()}>Help {unread > 0 && `(${unread})`}</button>{' '}
        <button onClick={() => widget?.send('Where is my order?')}>Where is my order?</button>{' '}
        <button onClick={() => setChatShown(!isChatShown)}>
          {isChatShown ? 'Remove' : 'Add'} the chat
        </button>{' '}
        <button onClick={() => setShoes(shoes + 1)}>Buy shoes</button>
      </p>
      {isChatShown && (
        <SluiceChat
          gateway={GATEWAY}
          widgetKey={KEY}
          cart={`shoes: ${shoes}`}
          onLoad={setWidget}
          onUnread={setUnread}
        />
      )}
    </main>
  );
}

const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Shop />
    </StrictMode>,
  );
}
