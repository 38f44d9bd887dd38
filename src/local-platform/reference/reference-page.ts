import { html, type Markup } from '../../runtime/markup.ts';
import { OPEN_POINTS } from '../open-points.ts';
import { ERRORS } from './answers.ts';
import {
  type DocumentedOperation,
  fieldList,
  type FieldSchema,
  fieldsOf,
  phrase,
  prose,
  referencePageOf,
} from '../../runtime/api-reference.ts';
import { operationSection } from './sections.ts';
import type { OpenApiDocument } from './document.ts';
import { type Operation, operations } from './operations.ts';

/** The reference as one page without scripts. */
export function referencePage(document: OpenApiDocument, baseUrl: string): Markup {
  const all = operations(baseUrl);
  const tags = (document.tags ?? []).map(({ name, description = '' }) => ({
    name,
    description,
    operations: all.filter(({ tag }) => tag === name),
  }));
  const schemas = Object.entries(document.components?.schemas ?? {});
  return referencePageOf({
    title: `${document.info.title} API ${document.info.version}`,
    styleSheet: '/reference/style.css',
    ...{ tags, home: 'Local platform', objects: schemas.map(([name]) => name) },
    more: html`<li><a href="#decisions">What the API leaves open</a></li>`,
    start: start(document, baseUrl),
    section: (operation) => operationSection(operation, found(document, operation), baseUrl),
    rest: html`<section class="tag" id="objects">
        <div class="heading">
          <h2>Objects</h2>
          <p>A required field is always present; it may be null where that is stated.</p>
        </div>
        ${schemas.map(([name, schema]) => objectSection(name, schema as FieldSchema))}
      </section>
      ${errorSection} ${decisionSection}`,
  });
}

function start({ info }: OpenApiDocument, baseUrl: string): Markup {
  return html`<section class="operation" id="start">
    <div class="text">
      <h1>${info.title} API</h1>
      <p class="version">Version ${info.version}, as this local platform implements it</p>
      ${prose(info.description ?? '')}
      <p>
        For programs: <a href="/v2026-04/openapi.json">openapi.json</a>, OpenAPI 3.1, generated from
        the schemas that validate requests.
      </p>
    </div>
    <div class="code">
      <figure>
        <figcaption>Base URL</figcaption>
        <pre tabindex="0"><code class="line">${baseUrl}/v2026-04</code></pre>
      </figure>
      <figure>
        <figcaption>API key and shop, for the commands below</figcaption>
        <pre tabindex="0"><code class="line">export API_KEY=… SHOP_ID=…</code></pre>
      </figure>
    </div>
  </section>`;
}

const objectSection = (name: string, schema: FieldSchema): Markup =>
  html`<section class="object" id="${name}">
    <h3><a href="#${name}">${name}</a></h3>
    ${prose(schema.description ?? '')} ${fieldList(fieldsOf(schema))}
  </section>`;

const errorSection = html`<section class="tag" id="errors">
  <div class="heading">
    <h2>Errors</h2>
    <p>
      Each error is an <a href="#Error">Error</a> with a <code>code</code> for programs, a
      <code>message</code> for people, and <code>fields</code>, which maps each wrong field to what
      was expected.
    </p>
  </div>
  <table>
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Code</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${Object.entries(ERRORS).map(
        ([status, { example, description }]) =>
          html`<tr>
            <td>${status}</td>
            <td><code>${example.code}</code></td>
            <td>${phrase(description)}</td>
          </tr>`,
      )}
    </tbody>
  </table>
</section>`;

const decisionSection = html`<section class="tag" id="decisions">
  <div class="heading">
    <h2>What the API leaves open</h2>
    <p>How the local platform behaves where the API's documentation is silent.</p>
  </div>
  <table>
    <thead>
      <tr>
        <th scope="col">Open in the document</th>
        <th scope="col">Here</th>
      </tr>
    </thead>
    <tbody>
      ${OPEN_POINTS.map(
        ([open, here]) =>
          html`<tr>
            <th scope="row">${phrase(open)}</th>
            <td>${phrase(here)}</td>
          </tr>`,
      )}
    </tbody>
  </table>
</section>`;

function found({ paths = {} }: OpenApiDocument, { path, method }: Operation): DocumentedOperation {
  // The generator's types allow references, which it never generates here.
  return paths[path]?.[method] as unknown as DocumentedOperation;
}
