/**
 * Adds a style sheet to a shadow root. Every content security policy allows constructed sheets, and
 * every browser that reads the sheets' media queries has them (Safari 16.4).
 */
export function adoptStyleSheet(root: ShadowRoot, text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
