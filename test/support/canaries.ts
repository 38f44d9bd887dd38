import { randomBytes } from 'node:crypto';

/** Unique strings, one in each field and secret, which must show up nowhere else. */
export class Canaries {
  readonly #forms = new Map<
    string,
    { readonly plain: string; readonly coded: readonly string[] }
  >();

  /** Letters and digits, which stay as they are in every text, URL, header and quoted form. */
  of(name: string): string {
    return this.keep(name, `zq${randomBytes(7).toString('hex')}`);
  }

  /** A phone number of the United States, for one of this name. */
  number(name: string): string {
    const digits = String(randomBytes(4).readUInt32BE() % 1e7).padStart(7, '0');
    this.keep(name, `415${digits}`);
    return `+1415${digits}`;
  }

  /** What something else made: a token, a key. @returns the value */
  keep(name: string, value: string): string {
    if (value.length < 8) throw new Error(`too short to be found for sure: ${name}`);
    // One name may be given to several: each is looked for.
    const key = this.#forms.has(name) ? `${name} (${this.#forms.size})` : name;
    this.#forms.set(key, { plain: value.toLowerCase(), coded: codedForms(value) });
    return value;
  }

  get names(): readonly string[] {
    return [...this.#forms.keys()];
  }

  /** Which of them are in a text, in whatever form. */
  foundIn(text: string): readonly string[] {
    // Quoted-printable and folded forms break a word over two lines.
    const joined = text.replace(/=\r?\n/g, '').replace(/(?:\r?\n|\\r|\\n)[ \t]*/g, '');
    const plain = [text, joined, unescaped(joined)].map((each) => each.toLowerCase()).join('\n');
    const coded = `${text}\n${joined}`.replaceAll('+', '-').replaceAll('/', '_');
    return [...this.#forms].flatMap(([name, forms]) => {
      const isThere =
        plain.includes(forms.plain) || forms.coded.some((form) => coded.includes(form));
      return isThere ? [name] : [];
    });
  }
}

/** Base64 and base64url of the value at each place where it can begin among others. */
function codedForms(value: string): readonly string[] {
  const base64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const whole = bytes.toString('base64url');
    const head = [0, 2, 3][before] ?? 0;
    // A last character of its own bits only: what follows the value would change it.
    return whole.slice(head, bytes.length % 3 === 0 ? undefined : -1);
  });
  return [...base64, Buffer.from(value).toString('hex')];
}

/** Percent- and \u-escapes read; what is none of them stays. */
const unescaped = (text: string): string =>
  text.replace(
    /%([0-9a-f]{2})|=([0-9A-F]{2})|\\u00([0-9a-f]{2})/gi,
    (_all, ...codes: unknown[]) => {
      const code = codes.find((each) => typeof each === 'string');
      return String.fromCharCode(parseInt(String(code), 16));
    },
  );
