import { type Command, Option } from 'commander';
import { cursorOf } from '../../platform-api/addresses.ts';
import type { PlatformClient } from '../../platform-api/client.ts';
import type { Page } from '../../platform-api/resources.ts';
import type { Column } from '../table.ts';
import { wholeNumber } from './values.ts';

/**
 * The fields of a request by the API's names, with the options that set them, in the order of the
 * help. `contact.email` is the field `email` of `contact`.
 */
export type RequestFields = Readonly<Record<string, Option>>;
/** Those of a list's filters. */
export type FilterFields<Query> = { readonly [Name in keyof Query]?: Option };

/** @param parse gets the text and the option's earlier value; without it, the text is the value */
export function field<Value>(
  flags: string,
  about: string,
  parse?: (text: string, before: Value) => Value,
): Option {
  const option = new Option(flags, about);
  return parse === undefined ? option : option.argParser(parse);
}

export function withFields(command: Command, fields: RequestFields): Command {
  for (const option of Object.values(fields)) command.addOption(option);
  return command;
}

/** The fields whose options were given, with their values. */
function given(fields: RequestFields, options: object): readonly (readonly [string, unknown])[] {
  const values = new Map<string, unknown>(Object.entries(options));
  return Object.entries(fields)
    .map(([name, option]) => [name, values.get(option.attributeName())] as const)
    .filter(([, value]) => value !== undefined);
}

/** Part of a request. The parser of each option returns values of its field's type. */
type Body = Record<string, unknown>;

/** A list's filters. Several values are the filter `name__in` (API §4.2, §4.5, §4.10). */
export function queryOf(fields: RequestFields, options: object): Body {
  const filters = given(fields, options).map(([name, value]): [string, unknown] => {
    if (!Array.isArray(value)) return [name, value];
    return value.length > 1 ? [`${name}__in`, value] : [name, value[0]];
  });
  return Object.fromEntries(filters);
}

/**
 * The body of a request.
 * @param start its fields that no option sets
 */
export function bodyOf(fields: RequestFields, options: object, start: Body = {}): Body {
  const body = structuredClone(start);
  for (const [path, value] of given(fields, options)) {
    const names = path.split('.');
    const last = names.pop() ?? path;
    // Only objects have fields in them.
    const within = names.reduce((outer, name) => (outer[name] ??= {}) as Body, body);
    // A copy, because fields of an object may follow.
    within[last] = structuredClone(value);
  }
  return body;
}

/** The options by the fields, for errors that name a field. */
export function optionsOf(fields: RequestFields): Readonly<Record<string, string>> {
  const options: Record<string, string> = {};
  for (const [name, { long = '' }] of Object.entries(fields)) {
    options[name] = long;
    options[`${name}__in`] = long;
  }
  return options;
}

export interface ListOptions {
  readonly all?: true;
  readonly json?: true;
}

/** One of the API's lists. */
export interface Listing<Query, Item> {
  /** The plural for messages: `tickets`. */
  readonly plural: string;
  /** The options of an example. */
  readonly example: string;
  readonly columns: readonly Column<Item>[];
  readonly filters: RequestFields;
  /** The filters from the options, if they are not simply the values. */
  readonly query?: (options: object) => Query;
  readonly pages: (client: PlatformClient, query: Query) => AsyncIterable<Page<Item>>;
}

export const PAGING = {
  limit: field(
    '--limit <count>',
    'results per page (default: chosen by the platform)',
    wholeNumber(),
  ),
  cursor: field(
    '--cursor <cursor>',
    'a later page: a cursor, or the link in next or previous',
    cursor,
  ),
};

/** Accepts a link of the page envelope (API §2.6) as well, since it contains the cursor. */
function cursor(value: string): string {
  return /[/?]/.test(value) ? (cursorOf(value) ?? value) : value;
}
