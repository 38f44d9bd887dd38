import { render } from 'preact';

/** Draws the panel into the widget's shadow root. */
export function mount(root: ShadowRoot): void {
  render(<p>Chat</p>, root);
}
