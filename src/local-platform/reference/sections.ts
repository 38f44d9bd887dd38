import { html, type Markup } from '../../runtime/markup.ts';
import { ERRORS } from './answers.ts';
import { curl, type Operation, type Success } from './operations.ts';

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

/** An operation: its parameters and answers, beside an example of each. */
export function operationSection(
  operation: Operation,
  documented: DocumentedOperation,
  baseUrl: string,
): Markup {
  return html`<section class="operation" id="${operation.id}">
    <div class="text">
      <h3><a href="#${operation.id}">${operation.summary}</a></h3>
      <p class="endpoint">
        ${methodBadge(operation.method)}<code>/v2026-04${operation.path}</code>
      </p>
      ${prose(operation.description)} ${inputs(documented)}
      <h4>Answers</h4>
      <ul class="answers">
        ${successesOf(operation).map(
          ([status, { description }]) =>
            html`<li><b>${status}</b> ${description} ${schemaLink(documented, status)}</li>`,
        )}
        <li class="errors">
          ${[...operation.errors]
            .sort()
            .map(
              (status) =>
                html`<a href="#errors" title="${ERRORS[status].description.replaceAll('`', '')}"
                  >${status}</a
                > `,
            )}
        </li>
      </ul>
    </div>
    <div class="code">
      <figure>
        <figcaption>Request</figcaption>
        <pre tabindex="0"><code class="line">${curl(operation, baseUrl)}</code></pre>
      </figure>
      ${(operation.body?.examples.slice(1) ?? []).map(({ summary, value }) => more(summary, value))}
      ${successesOf(operation)
        .map(([status, success], n) =>
          n === 0
            ? html`<figure>
                <figcaption>Answer <b>${status}</b></figcaption>
                <pre tabindex="0"><code>${json(success.example)}</code></pre>
              </figure>`
            : undefined,
        )
        .filter((part) => part !== undefined)}
    </div>
  </section>`;
}

export const methodBadge = (method: Operation['method']): Markup =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

/** The main answer first: 201 where a resource is created. */
const successesOf = ({ successes }: Operation): [string, Success][] =>
  Object.entries(successes).sort(([a], [b]) => Number(b) - Number(a));

function inputs({ parameters = [], requestBody }: DocumentedOperation): Markup {
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

function schemaLink({ responses }: DocumentedOperation, status: string): Markup {
  const reference = responses[status]?.content?.['application/json']?.schema.$ref;
  const name = reference?.split('/').at(-1);
  return name === undefined ? html`` : html`<a href="#${name}">${name}</a>`;
}

const more = (summary: string, value: object): Markup =>
  html`<details>
    <summary>${phrase(summary)}</summary>
    <pre tabindex="0"><code>${json(value)}</code></pre>
  </details>`;

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
  return html`${prose(schema.description ?? '')}
  ${schema.enum && schema.enum.length > 1 ? values(schema.enum) : undefined}
  ${schema.default === undefined ? undefined : html`<p class="values">Default <code>${schema.default}</code></p>`}
  ${inner.length > 0 ? fieldList(inner) : undefined}`;
}

const values = (list: readonly unknown[]) =>
  html`<p class="values">One of ${list.map((value) => html`<code>${String(value)}</code> `)}</p>`;

/** The type in words: "uuid or null", "array of integer". */
function typeOf(schema: FieldSchema): Markup {
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '') ?? [];
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`;
  const types = [schema.type ?? 'any'].flat();
  const [kind = 'any'] = types.filter((type) => type !== 'null');
  const orNull = types.includes('null') ? ' or null' : '';
  if (kind === 'array') return html`array of ${typeOf(schema.items ?? {})}${orNull}`;
  if (typeof schema.additionalProperties === 'object') return html`map of string to string`;
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

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null|-?\d[\d.eE+-]*)\b/g;

/** JSON with highlighted names, strings and other values. */
export function json(value: unknown): Markup {
  const text = JSON.stringify(value, null, 2);
  const parts: Markup[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, quoted, colon = '', word] = match;
    parts.push(html`${text.slice(at, match.index)}`);
    if (quoted === undefined) parts.push(html`<span class="v">${word}</span>`);
    else if (colon === '') parts.push(html`<span class="s">${quoted}</span>`);
    else parts.push(html`<span class="n">${quoted}</span>${colon}`);
    at = match.index + all.length;
  }
  return html`${parts}${text.slice(at)}`;
}
