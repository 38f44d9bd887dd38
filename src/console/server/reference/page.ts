import {
  type DocumentedOperation,
  fieldList,
  type FieldSchema,
  fieldsOf,
  inputs,
  json,
  methodBadge,
  phrase,
  prose,
  referencePageOf,
} from '../../../runtime/api-reference.ts';
import { html, type Markup } from '../../../runtime/markup.ts';
import { type AdminDocument, TAGS } from './document.ts';
import { type AdminOperation, ERRORS, errorsOf, OPERATIONS } from './operations.ts';

/** The reference of the admin API as one page without scripts. */
export function adminReference(document: AdminDocument, styleSheet: string): Markup {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const tags = TAGS.map(([name, description]) => ({
    ...{ name, description },
    operations: OPERATIONS.filter(({ tag }) => tag === name),
  }));
  return referencePageOf({
    title: `${document.info.title} API ${document.info.version}`,
    ...{ styleSheet, tags, home: 'Console', objects: schemas.map(([name]) => name) },
    start: start(document),
    section: (operation) => section(operation, documented(document, operation)),
    rest: html`<section class="tag" id="objects">
        <div class="heading"><h2>Objects</h2></div>
        ${schemas.map(([name, schema]) => objectSection(name, schema as FieldSchema))}
      </section>
      ${errorSection}`,
  });
}

const start = ({ info }: AdminDocument): Markup =>
  html`<section class="operation" id="start">
    <div class="text">
      <h1>${info.title} API</h1>
      <p class="version">Version ${info.version}</p>
      ${prose(info.description ?? '')}
      <p>For programs: <a href="/api/openapi.json">openapi.json</a>, OpenAPI 3.1.</p>
    </div>
    <div class="code">
      <figure>
        <figcaption>The gateway and a token, for the commands below</figcaption>
        <pre
          tabindex="0"
        ><code class="line">export SLUICE=http://127.0.0.1:8081 TOKEN=sluice_…</code></pre>
      </figure>
    </div>
  </section>`;

function section(operation: AdminOperation, found: DocumentedOperation & Described): Markup {
  const { id, method, path, summary, success, body } = operation;
  return html`<section class="operation" id="${id}">
    <div class="text">
      <h3><a href="#${id}">${summary}</a></h3>
      <p class="endpoint">${methodBadge(method)}<code>${path}</code></p>
      ${prose(found.description ?? '')} ${inputs(found)}
      <h4>Answers</h4>
      <ul class="answers">
        <li><b>${success.status}</b> ${success.description} ${schemaLink(found, operation)}</li>
        <li class="errors">
          ${errorsOf(operation).map((status) => html`<a href="#errors">${status}</a> `)}
        </li>
      </ul>
    </div>
    <div class="code">
      <figure>
        <figcaption>Request</figcaption>
        <pre tabindex="0"><code class="line">${curl(operation)}</code></pre>
      </figure>
      ${
        body &&
        html`<details>
          <summary>The body</summary>
          <pre tabindex="0"><code>${json(body.example)}</code></pre>
        </details>`
      }
    </div>
  </section>`;
}

interface Described {
  readonly description?: string;
}

function schemaLink({ responses }: DocumentedOperation, { success }: AdminOperation): Markup {
  const reference = responses[success.status]?.content?.['application/json']?.schema.$ref;
  const name = reference?.split('/').at(-1);
  return name === undefined ? html`` : html`<a href="#${name}">${name}</a>`;
}

/** A command to try an operation in a POSIX shell with `SLUICE` and `TOKEN`. */
function curl({ method, path, access, body, isUpload }: AdminOperation): string {
  const query = isUpload === true ? '?name=photo.jpg' : '';
  const lines = [`curl "$SLUICE${path.replace(/\{(\w+)\}/g, '$$$1')}${query}"`];
  if (method !== 'get') lines.push(`-X ${method.toUpperCase()} -H 'X-Sluice-Console: 1'`);
  if (access === 'operator') lines.push('-u "ann:$PASSWORD"');
  else if (access !== 'anyone') lines.push('-H "Authorization: Bearer $TOKEN"');
  if (body) {
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body.example)}'`);
  }
  if (isUpload === true) lines.push("-H 'Content-Type: image/jpeg' --data-binary @photo.jpg");
  return lines.join(' \\\n  ');
}

const objectSection = (name: string, schema: FieldSchema): Markup =>
  html`<section class="object" id="${name}">
    <h3><a href="#${name}">${name}</a></h3>
    ${prose(schema.description ?? '')}
    ${(schema.anyOf ?? [schema]).map((each) => fieldList(fieldsOf(each)))}
  </section>`;

const errorSection = html`<section class="tag" id="errors">
  <div class="heading">
    <h2>Errors</h2>
    <p>
      Each error is a <a href="#Problem">Problem</a> with a <code>code</code> for programs and a
      <code>message</code> for people.
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
        ([status, [, code, description]]) =>
          html`<tr>
            <td>${status}</td>
            <td><code>${code}</code></td>
            <td>${phrase(description)}</td>
          </tr>`,
      )}
    </tbody>
  </table>
</section>`;

function documented({ paths = {} }: AdminDocument, { path, method }: AdminOperation) {
  // The generator's types allow references, which it never generates here.
  return paths[path]?.[method] as unknown as DocumentedOperation & Described;
}
