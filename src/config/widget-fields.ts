import { field } from './field.ts';

/** Words that visitors read: one or more lines, nothing that only a terminal understands. */
export const shownText = (maxLength: number, example: string) =>
  field(
    {
      expected: `a text of 1 to ${maxLength} characters`,
      example,
      hint: (value) => {
        const clean = value.replace(CONTROLS, '').trim();
        return clean === '' ? undefined : Array.from(clean).slice(0, maxLength).join('').trim();
      },
    },
    (value) => {
      // A block text of YAML ends with a line break that nobody means.
      const text = value.trim();
      const isFine = text !== '' && Array.from(text).length <= maxLength && !text.match(CONTROLS);
      return isFine ? text : undefined;
    },
  );

/** All control characters but the line break and the tab. */
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** A colour that the widget can compute a readable contrast for. */
export const color = (example: string) =>
  field(
    { expected: 'a colour as # and six hex digits, in quotes', example, hint: sixDigits },
    (value) => (/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined),
  );

/** What most people write instead: `#abc`, `aabbcc`, `rgb(1, 2, 3)`. */
function sixDigits(value: string): string | undefined {
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value.trim())?.[1];
  if (hex !== undefined) {
    const long = hex.length === 6 ? hex : hex.replace(/./g, '$&$&');
    return `"#${long.toLowerCase()}"`;
  }
  const [, ...channels] = /^rgb\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*\)$/i.exec(value.trim()) ?? [];
  if (channels.length !== 3 || channels.some((each) => Number(each) > 255)) return undefined;
  return `"#${channels.map((each) => Number(each).toString(16).padStart(2, '0')).join('')}"`;
}

/** A picture on the shop's pages, which are https: another scheme would not be shown there. */
export const pictureUrl = (example: string) =>
  field(
    {
      expected: 'the https URL of a picture',
      example,
      hint: (value) => parsePicture(value.replace(/^(?:http:)?\/\//, 'https://')),
    },
    parsePicture,
  );

function parsePicture(value: string): string | undefined {
  if (!URL.canParse(value) || value.length > 2_000) return undefined;
  const url = new URL(value);
  const isPlain = url.protocol === 'https:' && url.username === '' && url.password === '';
  return isPlain ? url.href : undefined;
}
