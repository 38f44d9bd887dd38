import {
  type DocumentedOperation,
  inputs,
  json,
  methodBadge,
  phrase,
  prose,
} from '../../runtime/api-reference.ts';
import { html, type Markup } from '../../runtime/markup.ts';
import { ERRORS } from './answers.ts';
import { curl, type Operation, type Success } from './operations.ts';

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

/** The main answer first: 201 where a resource is created. */
const successesOf = ({ successes }: Operation): [string, Success][] =>
  Object.entries(successes).sort(([a], [b]) => Number(b) - Number(a));

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
