/**
 * Adds a style sheet to a shadow root. Every content security policy allows constructed sheets. A
 * browser that lacks them gets a `<style>` element, which a strict policy may refuse.
 */
export function adoptStyleSheet(root: ShadowRoot, text: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    // Assigned, not pushed: older browsers have a frozen array here.
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  } catch {
    const element = document.createElement('style');
    element.textContent = text;
    root.prepend(element);
  }
}
