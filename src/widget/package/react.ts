import { useEffect, useRef } from 'react';
import {
  loadWidget,
  SCRIPT_TAG,
  type Widget,
  type WidgetEvents,
  type WidgetOptions,
} from './widget.ts';

/** What the chat component takes, besides the settings of `loadWidget`. */
export interface SluiceChatProps extends Omit<WidgetOptions, 'key'> {
  /** The shop's widget key; React keeps the name `key` for itself. */
  readonly widgetKey: string;
  /**
   * The JWT of the logged-in customer. When it becomes undefined, the customer has logged out and is
   * forgotten on this device.
   */
  readonly identity?: string | undefined;
  /** Called with the calls that the page can make, when the widget is added. */
  readonly onLoad?: (widget: Widget) => void;
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
  readonly onMessage?: (message: WidgetEvents['message']) => void;
  readonly onUnread?: (count: number) => void;
  readonly onError?: (error: WidgetEvents['error']) => void;
}

/**
 * The chat widget as a component. It draws nothing in its place: the widget stands in the corner of
 * the page while the component is mounted. Changed settings load it again; a changed `cart` and
 * changed callbacks do not.
 */
export function SluiceChat(props: SluiceChatProps): null {
  const { widgetKey, identity, cart, ...rest } = props;
  const { onLoad, onOpen, onClose, onMessage, onUnread, onError, ...settings } = rest;
  const options = { ...settings, key: widgetKey };
  const current = useRef(props);
  const widget = useRef<Widget>(undefined);
  const known = useRef<string>(undefined);
  useEffect(() => {
    current.current = props;
  });

  useEffect(() => {
    const loaded = loadWidget(options);
    widget.current = loaded;
    loaded.on('open', () => current.current.onOpen?.());
    loaded.on('close', () => current.current.onClose?.());
    loaded.on('message', (message) => current.current.onMessage?.(message));
    loaded.on('unread', (count) => current.current.onUnread?.(count));
    loaded.on('error', (error) => current.current.onError?.(error));
    current.current.onLoad?.(loaded);
    return () => loaded.destroy();
    // The settings are plain values, and an object of them is new at each rendering.
  }, [JSON.stringify(options)]);

  useEffect(() => {
    // Read from the tag at each message.
    const tag = document.querySelector<HTMLElement>(SCRIPT_TAG);
    if (cart === undefined) delete tag?.dataset['cart'];
    else if (tag !== null) tag.dataset['cart'] = cart;
  }, [cart, JSON.stringify(options)]);

  useEffect(() => {
    if (identity !== undefined) widget.current?.identify(identity);
    else if (known.current !== undefined) widget.current?.logout();
    known.current = identity;
  }, [identity, JSON.stringify(options)]);

  return null;
}
