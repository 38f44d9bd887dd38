import {
  type ApiDocument,
  phrase,
  prose,
  referencePageOf,
  table,
} from '../../runtime/api-reference.ts';
import { html, type Markup } from '../../runtime/markup.ts';
import { OPEN_POINTS } from '../open-points.ts';
import type { OpenApiDocument } from './document.ts';

/** The reference as one page without scripts. */
export function referencePage(document: OpenApiDocument, baseUrl: string): Markup {
  // The generator's types allow references, which it never generates here.
  return referencePageOf(document as unknown as ApiDocument, {
    ...{ styleSheet: '/reference/style.css', home: 'Local platform', base: '/v2026-04' },
    start: start(document, baseUrl),
    objects: html`<p>A required field is always present; it may be null where that is stated.</p>`,
    errors: html`<p>
      Each error is an <a href="#Error">Error</a> with a <code>code</code> for programs, a
      <code>message</code> for people, and <code>fields</code>, which maps each wrong field to what
      was expected.
    </p>`,
    more: {
      menu: html`<li><a href="#decisions">What the API leaves open</a></li>`,
      sections: decisionSection,
    },
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

const decisionSection = html`<section class="tag" id="decisions">
  <div class="heading">
    <h2>What the API leaves open</h2>
    <p>How the local platform behaves where the API's documentation is silent.</p>
  </div>
  ${table(
    ['Open in the document', 'Here'],
    OPEN_POINTS.map(
      ([open, here]) =>
        html`<tr>
          <th scope="row">${phrase(open)}</th>
          <td>${phrase(here)}</td>
        </tr>`,
    ),
  )}
</section>`;
