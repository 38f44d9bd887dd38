import { resolve } from 'node:path';
import { parseDuration, writtenDuration } from './duration.ts';
import { type Cures, field, nearest } from './field.ts';
import { Secret } from './secret.ts';
import { withoutEnd } from '../runtime/without-end.ts';

export const secret = (expected: string, minLength = 1, cures: Cures = []) =>
  secretOf(expected, (bare) => !/[\r\n\0]/.test(bare), minLength, cures);

/** A secret that is sent after `Bearer` in a header; a space would end it (RFC 6750 §2.1). */
export const bearerSecret = (expected: string, minLength = 1, cures: Cures = []) =>
  secretOf(expected, (bare) => /^[!-~]+$/.test(bare), minLength, cures);

const PLACEHOLDER = 'write the secret itself: this only stands in its place';

const NO_SECRET: Cures = [
  [
    /^(?:file:\/\/|@)?\/(?:run|etc|var|home|secrets?)\//,
    "write the secret itself, or set the key's variable with _FILE at its end to this path",
  ],
  [/^Bearer\s/i, 'write what comes after Bearer'],
  [/^%\w{1,100}%$/, 'write ${NAME}: this is how Windows writes a variable'],
  [/^\{\{.{0,200}\}\}$/, 'write the secret itself, or ${NAME}: this template was not rendered'],
  [
    /^(?:vault|ssm|azurekeyvault|keyvault|secretref|aws-sm|gcp):|^(?:op|sm):\/\/|^arn:aws:(?:secretsmanager|ssm):/i,
    'write ${NAME}, and have the secret put into this variable: references are not resolved',
  ],
  [/^(?:ENC\[|\$ANSIBLE_VAULT|AQICAH)/, 'decrypt it first: this is an encrypted value'],
  [
    /^(?:<[^>]{0,100}>|x{3,}|\.{3,}|…|\*{3,}|(?:change|replace)[-_ ]?(?:me|this|it))$/i,
    PLACEHOLDER,
  ],
  [/^(?:the|your)[-_][a-z_-]{0,80}(?:key|token|secret|password|account|here)$/i, PLACEHOLDER],
];

/** @param isOne of the value without the line breaks at its end */
export function secretOf(
  expected: string,
  isOne: (bare: string) => boolean,
  minLength: number,
  cures: Cures = [],
) {
  // Secrets that are read from files often end with a line break that is not part of them.
  const bareOf = (value: string): string => withoutEnd(value, /[\r\n]/);
  const shown = (value: string): string | undefined => {
    const { length } = bareOf(value);
    if (length >= minLength) return undefined;
    return length === 0 ? 'an empty text' : `a text of length ${length} (not shown)`;
  };
  const example = '"${NAME_OF_A_VARIABLE}"';
  return field(
    { expected, example, secret: true, shown, cures: [...cures, ...NO_SECRET] },
    (value) => {
      const bare = bareOf(value);
      return bare.length >= minLength && isOne(bare) ? new Secret(bare) : undefined;
    },
  );
}

export const flag = () =>
  field<boolean>(
    {
      expected: 'true or false',
      example: 'true',
      hint: (value) => {
        if (/^(?:true|yes|y|on|1)$/i.test(value)) return 'true';
        return /^(?:false|no|n|off|0)$/i.test(value) ? 'false' : undefined;
      },
    },
    (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
  );

export const choice = <const T extends string>(...options: readonly [T, ...T[]]) =>
  field<T>(
    {
      expected: options.length === 1 ? options[0] : `one of ${options.join(', ')}`,
      example: options[0],
      hint: (value) => {
        const meant = SYNONYMS.flatMap(([of, option]) => (of.test(value) ? [option] : []));
        return options.find((option) => meant.includes(option)) ?? nearest(value, options);
      },
    },
    (value) => options.find((option) => option === value),
  );

/** What other programs call an option. */
const SYNONYMS: readonly (readonly [of: RegExp, option: string])[] = [
  [/^(?:yes|y|true|1|enabled?)$/i, 'on'],
  [/^(?:no|n|false|0|disabled?)$/i, 'off'],
  [/^(?:none|report)$/i, 'observe'],
  [/^plain$/i, 'text'],
  [/^text$/i, 'pretty'],
  [/^(?:trace|verbose|silly|all)$/i, 'debug'],
  [/^(?:fatal|critical|crit|alert|emerg)$/i, 'error'],
  [/^(?:admin|administrator|owner|root)$/i, 'operator'],
  [/^(?:anthropic|claude|gemini|google|azure|ollama|mistral|llm|chatgpt|gpt.{0,20})$/i, 'openai'],
];

export const whole = (
  min: number,
  max: number,
  example: number,
  hint = ofBounds(max),
  cures: Cures = [],
) =>
  field<number>(
    {
      expected: `a whole number from ${min} to ${max}`,
      example: String(example),
      hint,
      cures,
    },
    (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      return number >= min && number <= max ? number : undefined;
    },
  );

/** The bound that a number is beyond, or that stands for "no limit". */
const ofBounds = (max: number) => (value: string) => {
  if (/^(?:\+\d{1,15}|0x[\da-f]{1,8}|0o[0-7]{1,10}|\d{1,4}e\d)$/i.test(value)) {
    return String(Number(value));
  }
  const [, beforeComment] = /^(\d{1,15})#/.exec(value) ?? [];
  if (beforeComment !== undefined) return `${beforeComment}, with a space before the #`;
  // A port beyond it is a slip of the pen.
  if (max === MAX_PORT) return undefined;
  if (/^(?:unlimited|infinit[ey]|none|off|never|no|-1)$/i.test(value)) return String(max);
  return /^\d{1,15}$/.test(value) && Number(value) > max ? String(max) : undefined;
};

const MAX_PORT = 65_535;

/** A count from which an alert fires; none of them can be off, so a bound that nothing reaches stands for it. */
export const atLeast = (example: number) => whole(1, 1_000_000, example, neverAs('1000000'));

/** What stands for "never" in the field. */
const neverAs = (value: string) => (text: string) =>
  /^(?:0|off|no|none|never|false|disabled?)$/i.test(text) ? value : undefined;

export const port = (example: number) => whole(0, MAX_PORT, example);

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1000,
  kb: 1000,
  kib: 1024,
  m: 1e6,
  mb: 1e6,
  mib: 1024 ** 2,
  g: 1e9,
  gb: 1e9,
  gib: 1024 ** 3,
};

export const bytes = (min: number, max: number, example: number) =>
  field<number>(
    {
      expected: `a size in bytes from ${min} to ${max}, digits only`,
      example: String(example),
      hint: (value) => {
        // Digits in groups of three.
        const plain = value.replace(/(\d)[_,' ](?=\d{3})/g, '$1');
        const [, count, unit = ''] = /^([\d.]{1,20})\s{0,9}([a-z]{0,9})$/i.exec(plain) ?? [];
        const size = Math.round(Number(count) * (BYTE_UNITS[unit.toLowerCase()] ?? NaN));
        // Of a bare number, the unit is missing.
        if (Number.isNaN(size) || (unit === '' && size < min)) return undefined;
        return String(Math.min(max, Math.max(min, size)));
      },
    },
    (value) => {
      const size = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      return size >= min && size <= max ? size : undefined;
    },
  );

const DURATION = 'a duration: a whole number and ms, s, m, h or d';

/** @param example has the unit that a bare number probably means, which is that of the default */
const durationHint = (example: string) => (value: string) => {
  const text = value.slice(0, 40).toLowerCase().replaceAll(/\s/g, '');
  if (/^(?:never|forever|always|unlimited|infinit[ey]|-1)$/.test(text)) return '3650d';
  if (!/^(?:\d{1,12}[a-z]{0,12}){1,4}$/.test(text)) return undefined;
  // No unit is that large: these are milliseconds, as other programs have them.
  if (/^\d{4,}$/.test(text)) return writtenDuration(Number(text));
  const [, usual = 'd'] = /^\d+([a-z]+)$/.exec(example) ?? [];
  const parts = [...text.matchAll(/(\d+)([a-z]*)/g)].map(([, count = '', unit = '']) => {
    const letter = /^ms|^milli/.test(unit) ? 'ms' : (unit[0] ?? usual);
    return letter === 'w' ? `${Number(count) * 7}d` : count + letter;
  });
  const sum = parts.reduce((ms, part) => ms + (parseDuration(part) ?? NaN), 0);
  if (!(sum > 0)) return undefined;
  return parts.length === 1 ? parts[0] : writtenDuration(sum);
};

/** At least one millisecond: an interval of zero would be a busy loop. */
export const duration = (example: string, hint = durationHint(example)) =>
  field<number>({ expected: DURATION, example, hint }, (value) => {
    const parsed = parseDuration(value);
    return parsed === 0 ? undefined : parsed;
  });

/** A time after which an alert fires. */
export const longerThan = (example: string) =>
  duration(example, (text) => neverAs('3650d')(text) ?? durationHint(example)(text));

export const durationOrNone = (example: string) =>
  field<number>(
    { expected: `0s, or ${DURATION}`, example, hint: durationHint(example) },
    parseDuration,
  );

export const durationOrForever = (example: string) =>
  field<number | 'forever'>(
    {
      expected: `forever, or ${DURATION}`,
      example,
      hint: (text) =>
        /^(?:never|always|infinite|unlimited|off|none|no)$/i.test(text)
          ? 'forever'
          : durationHint(example)(text),
    },
    (value) => (value === 'forever' ? value : parseDuration(value)),
  );

/** Only a shell replaces `~`. */
const withHome = (value: string): string | undefined =>
  /^~(?:\/|$)/.test(value) ? `"\${HOME}${value.slice(1)}"` : undefined;

const NO_PATH: Cures = [
  [/^[a-z]:[\\/]/i, 'write a path of this machine: this is one of Windows'],
  [
    /^[a-z][a-z0-9+.-]{1,20}:\/\//i,
    'write the path of a file or a folder of this machine: this is a URL',
  ],
];

/** A path, resolved against the working directory. */
export const path = (example: string) =>
  field({ expected: 'a path', example, hint: withHome, cures: NO_PATH }, (value) =>
    value.trim() === '' || /^~(?:\/|$)|\0/.test(value) ? undefined : resolve(value),
  );
