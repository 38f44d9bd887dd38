/**
 * Gives a shadow root a style sheet. A constructed sheet is allowed under every content security
 * policy; only a browser without them gets an element, which a strict policy may refuse.
 */
export function adopt(root: ShadowRoot, text: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    // Not pushed: it was a frozen array once.
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  } catch {
    const element = document.createElement('style');
    element.textContent = text;
    root.prepend(element);
  }
}
