/**
 * JSON that is safe to print on a terminal: control characters, bidi marks and other invisible
 * characters are escaped. A program reads the same value.
 */
function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/[^\P{C}\n]|[\u2028\u2029]/gu, escaped);
}

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => {
    const unit = text.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');

/** One JSON document, for programs. */
export const document = (value: unknown): string => `${jsonText(value, 2)}\n`;

/** One JSON object or array on a line, for programs. */
export const jsonLine = (value: unknown): string => `${jsonText(value)}\n`;
