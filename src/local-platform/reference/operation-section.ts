import { html, type Markup } from '../../runtime/markup.ts';
import { ERRORS } from './answers.ts';
import { curl } from './curl.ts';
import { type Field, fieldList, type FieldSchema, fieldsOf } from './described-fields.ts';
import type { Operation, Success } from './operations.ts';
import { json, phrase, prose } from './prose.ts';

/** What the document says about an operation, as far as the page shows it. */
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

/** An operation: what it takes and answers on one side, an example of both on the other. */
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

/** What stands for the operation comes first: 201 where something is created. */
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
