import type { Dice } from '../dice.ts';
import { encodeBody, writeBytes, writeHtml, writeText } from './bodies.ts';
import { writeName, type WrittenName } from './names.ts';
import type { Plan } from './plan.ts';

/** A part as it was written: what a reader must find. */
export interface WrittenLeaf {
  readonly bytes: Buffer;
  readonly name: string | undefined;
}

/** A part of a message, of one character per byte, with CRLF at the ends of lines. */
export interface WrittenPart {
  readonly head: readonly string[];
  readonly body: string;
  /** False: the body directly follows the head. */
  readonly hasEmptyLine: boolean;
  readonly leaves: readonly WrittenLeaf[];
}

const FILE_TYPES = ['application/pdf', 'image/png', 'application/zip', 'application/octet-stream'];
const TEXT_TYPES = ['text/plain', 'text/plain', 'text/html', 'text/csv', 'text/calendar', 'text/x'];

/** `isPart`: it is in a multipart, where it needs no head. */
export function writeLeaf(dice: Dice, plan: Plan, isPart: boolean): WrittenPart {
  if (isPart && plan.takes('text without head')) return asText(writeText(dice, true), [], false);
  if (plan.takes('no empty line')) {
    return asText(writeText(dice, true), ['Content-Type: text/plain; charset=utf-8'], false);
  }
  if (plan.takes('unknown encoding')) {
    const encoding = dice.pick(['x-squeezed', 'x-base64', 'uuencode']);
    const fields = ['Content-Type: text/plain', `Content-Transfer-Encoding: ${encoding}`];
    return asText(writeText(dice, true), fields);
  }
  return dice.chance(55) ? writeTextLeaf(dice, plan) : writeFile(dice, plan);
}

export function asText(text: string, head: readonly string[], hasEmptyLine = true): WrittenPart {
  const leaves = [{ bytes: Buffer.from(text, 'latin1'), name: undefined }];
  return { head, body: text, hasEmptyLine, leaves };
}

function writeTextLeaf(dice: Dice, plan: Plan): WrittenPart {
  const type = dice.pick(TEXT_TYPES);
  const text = type === 'text/html' ? writeHtml(dice) : writeText(dice, dice.chance(40));
  const { declared, text: body } = encodeBody(dice, text, true);
  const name = dice.chance(20) ? writeName(dice) : undefined;
  const isUntyped = type === 'text/plain' && name === undefined && dice.chance(20);
  const charset = dice.pick(['charset=utf-8', 'charset="UTF-8"', 'format=flowed', 'charset=x']);
  const head = writeHead(dice, plan, {
    type: isUntyped ? undefined : type,
    parameters: [charset],
    encoding: declared,
    name,
  });
  const bytes = Buffer.from(text, 'latin1');
  return { head, body, hasEmptyLine: true, leaves: [{ bytes, name: name?.text }] };
}

export function writeFile(dice: Dice, plan: Plan): WrittenPart {
  const content = writeBytes(dice);
  const { declared, text } = encodeBody(dice, content, false);
  const type = dice.pick(FILE_TYPES);
  const name = type !== 'application/octet-stream' && dice.chance(60) ? writeName(dice) : undefined;
  const head = writeHead(dice, plan, { type, parameters: [], encoding: declared, name });
  const bytes = Buffer.from(content, 'latin1');
  const isNothing = bytes.length === 0 && name === undefined;
  const leaves = isNothing ? [] : [{ bytes, name: name?.text }];
  return { head, body: text, hasEmptyLine: true, leaves };
}

interface HeadOf {
  readonly type: string | undefined;
  readonly parameters: readonly string[];
  readonly encoding: string;
  readonly name: WrittenName | undefined;
}

/** The fields of a part in any order, folded in any way. */
function writeHead(dice: Dice, plan: Plan, of: HeadOf): readonly string[] {
  const { type, parameters, encoding, name } = of;
  const inType = name !== undefined && type !== undefined && dice.chance(60);
  const inDisposition = name !== undefined && (!inType || dice.chance(60));
  const field = (label: string, value: string, more: readonly string[]) => {
    const separator = plan.takes('parameter not indented') ? ';\r\n' : dice.pick(SEPARATORS);
    return `${dice.chance(10) ? label.toUpperCase() : label}:${dice.pick([' ', '', '\t'])}${[value, ...more].join(separator)}`;
  };
  const fields: string[] = [];
  if (type !== undefined) {
    const all = inType ? [...parameters, ...name.parameters('name')] : parameters;
    fields.push(field('Content-Type', type, all));
    if (plan.takes('second type')) fields.push('Content-Type: application/x-second; name="second"');
  }
  if (encoding !== '') {
    fields.push(`Content-Transfer-Encoding: ${encoding}`);
    if (plan.takes('second encoding')) fields.push('Content-Transfer-Encoding: x-second');
  }
  if (inDisposition) {
    const disposition = dice.pick(['attachment', 'inline', 'ATTACHMENT']);
    fields.push(field('Content-Disposition', disposition, name.parameters('filename')));
  }
  if (dice.chance(15)) fields.push(`Content-ID: <${dice.below(1e6)}@customer.example>`);
  if (dice.chance(10)) fields.push('Content-Description: something\r\n that is folded');
  if (fields.length > 1 && plan.takes('junk in the head')) fields.splice(1, 0, 'this is no field');
  return fields;
}

const SEPARATORS = ['; ', ';', ';\r\n ', ';\r\n\t', ' ; '];
