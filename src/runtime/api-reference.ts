import { readFileSync } from 'node:fs';
import { html, type Markup } from './markup.ts';

/**
 * The parts of which the references of HTTP APIs are made: pages without scripts that show an
 * OpenAPI document (docs/decisions/0012-own-reference-page.md).
 */

/** The style sheet of a reference. */
export const referenceStyle = (): string =>
  readFileSync(new URL('./api-reference.css', import.meta.url), 'utf8');

/** The part of an OpenAPI document that its page shows. */
export interface ApiDocument {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, FieldSchema>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
}

type Components = NonNullable<ApiDocument['components']>;

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: FieldSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-codeSamples': readonly { readonly source: string }[];
}

interface Content {
  readonly schema?: FieldSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly summary: string; readonly value: unknown }>
  >;
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Content>>;
}

/** An operation with its place in the document. */
type PlacedOperation = Operation & { readonly method: string; readonly path: string };

const methodBadge = (method: string): Markup =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

/** The parameters and the body of an operation. */
function inputs({ parameters = [], requestBody }: Operation): Markup {
  const fieldsIn = (place: string): Field[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, description, schema }) => ({
        name,
        required,
        schema: { ...schema, ...(description !== undefined && { description }) },
      }));
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema = {} }]) =>
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
interface FieldSchema {
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

interface Field {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
}

const fieldsOf = (schema: FieldSchema): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    required: schema.required?.includes(name) ?? false,
  }));

/** A list of fields with their types and meanings; the fields of an object are nested below it. */
function fieldList(fields: readonly Field[]): Markup {
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
function json(value: unknown): Markup {
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

const nameIn = (reference: string | undefined): string => reference?.split('/').at(-1) ?? '';

/** An operation: its parameters and answers, beside an example of each. */
function operationSection(
  operation: PlacedOperation,
  { responses = {} }: Components,
  base: string,
): Markup {
  const { operationId: id, method, path, summary, description = '', requestBody } = operation;
  const answers = Object.entries(operation.responses).filter(([status]) => status !== 'default');
  // 201 first, where a resource is created.
  const successes = answers.filter(([, { $ref }]) => $ref === undefined).toReversed();
  const { example, examples = {} } = requestBody?.content['application/json'] ?? {};
  const bodies =
    example === undefined
      ? Object.values(examples).slice(1)
      : [{ summary: 'The body', value: example }];
  const [status, success] = successes[0] ?? [];
  const answer = success?.content?.['application/json']?.example;
  return html`<section class="operation" id="${id}">
    <div class="text">
      <h3><a href="#${id}">${summary}</a></h3>
      <p class="endpoint">${methodBadge(method)}<code>${base}${path}</code></p>
      ${prose(description)} ${inputs(operation)}
      <h4>Answers</h4>
      <ul class="answers">
        ${successes.map(
          ([each, { description: about = '', content }]) =>
            html`<li><b>${each}</b> ${about} ${schemaLink(content?.['application/json'])}</li>`,
        )}
        <li class="errors">
          ${answers
            .filter(([, { $ref }]) => $ref !== undefined)
            .map(
              ([each, { $ref }]) =>
                html`<a href="#errors" title="${titleOf(responses[nameIn($ref)])}">${each}</a> `,
            )}
        </li>
      </ul>
    </div>
    <div class="code">
      <figure>
        <figcaption>Request</figcaption>
        <pre
          tabindex="0"
        ><code class="line">${operation['x-codeSamples'][0]?.source ?? ''}</code></pre>
      </figure>
      ${bodies.map(
        (body) =>
          html`<details>
            <summary>${phrase(body.summary)}</summary>
            <pre tabindex="0"><code>${json(body.value)}</code></pre>
          </details>`,
      )}
      ${
        answer === undefined
          ? undefined
          : html`<figure>
              <figcaption>Answer <b>${status}</b></figcaption>
              <pre tabindex="0"><code>${json(answer)}</code></pre>
            </figure>`
      }
    </div>
  </section>`;
}

const titleOf = (response: Response | undefined): string =>
  (response?.description ?? '').replaceAll('`', '');

function schemaLink(content: Content | undefined): Markup {
  const name = nameIn(content?.schema?.$ref);
  return name === '' ? html`` : html`<a href="#${name}">${name}</a>`;
}

const objectSection = ([name, schema]: [string, FieldSchema]): Markup =>
  html`<section class="object" id="${name}">
    <h3><a href="#${name}">${name}</a></h3>
    ${prose(schema.description ?? '')}
    ${(schema.anyOf ?? [schema]).map((each) => fieldList(fieldsOf(each)))}
  </section>`;

/** A table of two or three columns. */
export const table = (heads: readonly string[], rows: readonly Markup[]): Markup =>
  html`<table>
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;

/** The errors with a status of their own, ascending. */
function errorRows(
  operations: readonly PlacedOperation[],
  { responses = {} }: Components,
): readonly Markup[] {
  const named = operations.flatMap(({ responses: all }) =>
    Object.entries(all).map(([status, { $ref }]) => [status, nameIn($ref)] as const),
  );
  const names = [...new Map(named)].filter(([status]) => status !== 'default');
  return names
    .filter(([, name]) => responses[name] !== undefined)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([status, name]) => {
      const { description = '', content } = responses[name] ?? {};
      return html`<tr>
        <td>${status}</td>
        <td><code>${codeIn(content?.['application/json']?.example)}</code></td>
        <td>${phrase(description)}</td>
      </tr>`;
    });
}

/** `code` of an error, or of its member `error`. */
function codeIn(example: unknown): string {
  // Each error in the document has an example with a code.
  const { code, error } = example as { readonly code?: string; readonly error?: unknown };
  return code ?? codeIn(error);
}

interface ReferenceParts {
  readonly styleSheet: string;
  /** The name of the page that `/` is. */
  readonly home: string;
  /** What precedes the paths. */
  readonly base: string;
  readonly start: Markup;
  /** Introductions to the lists of objects and errors. */
  readonly objects?: Markup;
  readonly errors: Markup;
  /** Further sections, and their links in the menu. */
  readonly more?: { readonly menu: Markup; readonly sections: Markup };
}

interface Tag {
  readonly name: string;
  readonly description?: string;
  readonly operations: readonly PlacedOperation[];
}

function menuOf(
  tags: readonly Tag[],
  objects: readonly string[],
  more: Markup | undefined,
): Markup {
  return html`<ul>
    <li><a href="#start">Start</a></li>
    ${tags.map(
      ({ name, operations }) =>
        html`<li>
          <a class="group" href="#${name.toLowerCase()}">${name}</a>
          <ul>
            ${operations.map(
              ({ operationId: id, method, summary }) =>
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
}

/** An OpenAPI document as one page: a menu, how to start, the operations by tag, objects and errors. */
export function referencePageOf(document: ApiDocument, parts: ReferenceParts): Markup {
  const { styleSheet, home, base, start, more } = parts;
  const { info, paths = {}, components = {} } = document;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );
  const tags = (document.tags ?? []).map((tag) => ({
    ...tag,
    operations: all.filter((operation) => operation.tags.includes(tag.name)),
  }));
  const schemas = Object.entries(components.schemas ?? {});
  const names = schemas.map(([name]) => name);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title} API ${info.version}</title>
        <link rel="stylesheet" href="${styleSheet}" />
      </head>
      <body>
        <header class="bar">
          <a class="skip" href="#start">Skip to the content</a>
          <a class="home" href="/">${home}</a>
          <a href="#contents">Contents</a>
        </header>
        <div class="columns">
          <nav class="side" id="contents" aria-label="Contents">
            ${menuOf(tags, names, more?.menu)}
          </nav>
          <main>
            ${start}
            ${tags.map(
              ({ name, description = '', operations }) =>
                html`<section class="tag" id="${name.toLowerCase()}">
                  <div class="heading">
                    <h2>${name}</h2>
                    ${prose(description)}
                  </div>
                  ${operations.map((operation) => operationSection(operation, components, base))}
                </section>`,
            )}
            <section class="tag" id="objects">
              <div class="heading">
                <h2>Objects</h2>
                ${parts.objects}
              </div>
              ${schemas.map(objectSection)}
            </section>
            <section class="tag" id="errors">
              <div class="heading">
                <h2>Errors</h2>
                ${parts.errors}
              </div>
              ${table(['Status', 'Code', 'Meaning'], errorRows(all, components))}
            </section>
            ${more?.sections}
          </main>
        </div>
      </body>
    </html>`;
}
