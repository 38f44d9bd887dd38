import { readFileSync } from 'node:fs';
import { html, type Markup } from './markup.ts';

/**
 * The parts of which the references of HTTP APIs are made: pages without scripts that show an
 * OpenAPI document (docs/decisions/0012-own-reference-page.md).
 */

/** The style sheet of a reference. */
export const referenceStyle = (): string =>
  readFileSync(new URL('./api-reference.css', import.meta.url), 'utf8');

/** The parts of a documented operation that the page shows. */
export interface DocumentedOperation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: FieldSchema;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: FieldSchema }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: Readonly<Record<string, { readonly schema: FieldSchema }>> }
    >
  >;
}

export const methodBadge = (method: string): Markup =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

/** The parameters and the body of an operation. */
export function inputs({ parameters = [], requestBody }: DocumentedOperation): Markup {
  const fieldsIn = (place: string): Field[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, description, schema }) => ({
        name,
        required,
        schema: { ...schema, ...(description !== undefined && { description }) },
      }));
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    titled(`Body, ${type}`, fieldsOf(schema)),
  );
  return html`${titled('Path', fieldsIn('path'))} ${titled('Query', fieldsIn('query'))} ${bodies}`;
}

const titled = (title: string, fields: readonly Field[]): Markup =>
  fields.length === 0
    ? html``
    : html`<h4>${title}</h4>
        ${fieldList(fields)}`;

/** The part of JSON Schema that the document uses. */
export interface FieldSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly default?: string | number;
  readonly enum?: readonly unknown[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema | boolean;
  readonly required?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
}

export interface Field {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
}

export const fieldsOf = (schema: FieldSchema): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    required: schema.required?.includes(name) ?? false,
  }));

/** A list of fields with their types and meanings; the fields of an object are nested below it. */
export function fieldList(fields: readonly Field[]): Markup {
  return html`<dl class="fields">
    ${fields.map(
      ({ name, schema, required }) =>
        html`<div>
          <dt>
            <code>${name}</code>
            <span class="type">${typeOf(schema)}</span>
            ${required ? html`<span class="required">required</span>` : undefined}
          </dt>
          <dd>${meaning(schema)}</dd>
        </div>`,
    )}
  </dl>`;
}

function meaning(schema: FieldSchema): Markup {
  const inner = fieldsOf(schema.items ?? schema);
  const choices = schema.enum ?? schema.items?.enum;
  return html`${prose(schema.description ?? '')}
  ${choices && choices.length > 1 ? values(choices) : undefined}
  ${schema.default === undefined ? undefined : html`<p class="values">Default <code>${schema.default}</code></p>`}
  ${inner.length > 0 ? fieldList(inner) : undefined}`;
}

const values = (list: readonly unknown[]) =>
  html`<p class="values">One of ${list.map((value) => html`<code>${String(value)}</code> `)}</p>`;

/** The type in words: "uuid or null", "array of integer". */
function typeOf(schema: FieldSchema): Markup {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '') ?? [];
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`;
  if (schema.anyOf !== undefined) {
    return html`${schema.anyOf.map((each, n) => html`${n > 0 ? ' or ' : ''}${typeOf(each)}`)}`;
  }
  const types = [schema.type ?? 'any'].flat();
  const [kind = 'any'] = types.filter((type) => type !== 'null');
  const orNull = types.includes('null') ? ' or null' : '';
  if (kind === 'array') return html`array of ${typeOf(schema.items ?? {})}${orNull}`;
  if (typeof schema.additionalProperties === 'object') {
    return html`map of string to ${typeOf(schema.additionalProperties)}`;
  }
  if (schema.contentMediaType !== undefined) return html`file`;
  if (schema.enum?.length === 1) return html`<code>${String(schema.enum[0])}</code>`;
  return html`${FORMATS[schema.format ?? ''] ?? kind}${orNull}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'uuid',
  'date-time': 'date-time',
  email: 'email address',
  uri: 'URI',
};

/** Paragraphs separated by empty lines, with code in backticks. */
export const prose = (text: string): Markup =>
  html`${text
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => html`<p>${phrase(paragraph)}</p>`)}`;

/** One line, with code in backticks. */
export const phrase = (text: string): Markup =>
  html`${text
    .split('`')
    .map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;

/** A line of it: the name of a member, and the value or its beginning. */
const LINE = /^( *)("(?:[^"\\]|\\.)*")?(: )?([^]*)/;

/** JSON with highlighted names, strings and other values. */
export function json(value: unknown): Markup {
  const lines = JSON.stringify(value, null, 2).split('\n');
  return html`${lines.map((line, n) => html`${n === 0 ? '' : '\n'}${highlighted(line)}`)}`;
}

function highlighted(line: string): Markup {
  const [, blanks = '', quoted, colon = '', rest = ''] = LINE.exec(line) ?? [];
  if (quoted === undefined) return html`${blanks}${valueOf(rest)}`;
  if (colon === '') return html`${blanks}<span class="s">${quoted}</span>${rest}`;
  return html`${blanks}<span class="n">${quoted}</span>${colon}${valueOf(rest)}`;
}

function valueOf(text: string): Markup {
  const bare = text.endsWith(',') ? text.slice(0, -1) : text;
  const rest = text.slice(bare.length);
  if (/^[[{}\]]*$/.test(bare)) return html`${text}`;
  return html`<span class="${bare.startsWith('"') ? 's' : 'v'}">${bare}</span>${rest}`;
}

/** A group of operations of a reference. */
export interface ReferenceTag<Operation> {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

interface ReferencePage<Operation> {
  readonly title: string;
  readonly styleSheet: string;
  /** The name of the page that `/` is. */
  readonly home: string;
  readonly tags: readonly ReferenceTag<Operation>[];
  /** The names of the objects. */
  readonly objects: readonly string[];
  /** Links of the menu after that to the errors. */
  readonly more?: Markup;
  readonly start: Markup;
  readonly section: (operation: Operation) => Markup;
  /** What follows the operations. */
  readonly rest: Markup;
}

/** A reference as one page: a menu, how to start, the operations by tag, and the rest. */
export function referencePageOf<
  Operation extends { readonly id: string; readonly method: string; readonly summary: string },
>({
  title,
  styleSheet,
  home,
  tags,
  objects,
  more,
  start,
  section,
  rest,
}: ReferencePage<Operation>) {
  const menu = html`<ul>
    <li><a href="#start">Start</a></li>
    ${tags.map(
      ({ name, operations }) =>
        html`<li>
          <a class="group" href="#${name.toLowerCase()}">${name}</a>
          <ul>
            ${operations.map(
              ({ id, method, summary }) =>
                html`<li><a href="#${id}">${summary} ${methodBadge(method)}</a></li>`,
            )}
          </ul>
        </li>`,
    )}
    <li>
      <a class="group" href="#objects">Objects</a>
      <ul>
        ${objects.map((name) => html`<li><a href="#${name}">${name}</a></li>`)}
      </ul>
    </li>
    <li><a href="#errors">Errors</a></li>
    ${more}
  </ul>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="stylesheet" href="${styleSheet}" />
      </head>
      <body>
        <header class="bar">
          <a class="skip" href="#start">Skip to the content</a>
          <a class="home" href="/">${home}</a>
          <a href="#contents">Contents</a>
        </header>
        <div class="columns">
          <nav class="side" id="contents" aria-label="Contents">${menu}</nav>
          <main>
            ${start}
            ${tags.map(
              ({ name, description, operations }) =>
                html`<section class="tag" id="${name.toLowerCase()}">
                  <div class="heading">
                    <h2>${name}</h2>
                    ${prose(description)}
                  </div>
                  ${operations.map(section)}
                </section>`,
            )}
            ${rest}
          </main>
        </div>
      </body>
    </html>`;
}
