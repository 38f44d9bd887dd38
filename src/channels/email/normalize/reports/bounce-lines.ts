/** How the notices of one mail system read. Texts are in lower case, with single spaces. */
export interface BounceText {
  readonly system: string;
  /** Where the texts are from: the program's own source or documentation, or an analysis of it. */
  readonly source: string;
  /** How its notices begin, perhaps after a banner or a greeting. */
  readonly opening?: readonly string[];
  /** Lines that name a recipient: its address, and perhaps the reason after it. */
  readonly recipient?: readonly AddressLine[];
  /** What precedes the returned message. */
  readonly end?: readonly string[];
}

/** An analysis of many real bounces: a module for each mail system. */
export const SISIMAI = 'https://github.com/sisimai/p5-sisimai/blob/master/lib/Sisimai/Lhost/';
/** The same, of Mailman's bounce detectors. */
export const FLUFL = 'https://gitlab.com/warsaw/flufl.bounce/-/tree/main/flufl/bounce/_detectors/';

/** A form of the lines that name an address. */
export interface AddressLine {
  /** The address, and what the form says of the text after it; undefined when the line has another form. */
  readonly read: (line: string) => readonly [address: string, ...rest: string[]] | undefined;
}

const ADDRESS = /^[^\s<>"'(),:;\\[\]：，、；。（）【】「」@]{1,64}@[\w-]+(?:\.[\w-]+)*/;

/** A line with the address, in which `@@` stands for it; the text after it is the reason. */
export function line(pattern: string): AddressLine {
  const [head = '', tail = ''] = pattern.split('@@');
  const before = new RegExp(`^${head}`, 'i');
  const behind = new RegExp(`^${tail}`, 'i');
  return {
    read: (written) => {
      const text = written.trimStart();
      const start = before.exec(text)?.[0].length;
      const address = ADDRESS.exec(text.slice(start))?.[0];
      if (start === undefined || address === undefined) return undefined;
      const found = behind.exec(text.slice(start + address.length));
      return found === null ? undefined : [address, ...found.slice(1)];
    },
  };
}

/** `<ann@x.example>:`, and the same alone in its line. */
export const BRACKETED = line(String.raw`(?:>>> )?<@@>(?: ?\([^)]{0,200}\))?(?::|\s*$)(.*)`);
/** `"ann@x.example":`, alone in its line. */
export const QUOTED = line(String.raw`"@@":?\s*$()`);
/** `ann@x.example:`, and the same alone in its line. */
export const BARE = line(String.raw`(?:[*•>–-]{1,3} ?)?@@(?::(.*)|\.?\s*$)`);
/** A name before the address alone in its line. */
export const NAMED = line(String.raw`"?[^"<>@]{1,100}"? <@@>\s*$`);
