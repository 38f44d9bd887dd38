import { type ApiDocument, prose, referencePageOf } from '../../../runtime/api-reference.ts';
import { html, type Markup } from '../../../runtime/markup.ts';
import type { AdminDocument } from './document.ts';

/** The reference of the admin API as one page without scripts. */
export function adminReference(document: AdminDocument, styleSheet: string): Markup {
  // The generator's types allow references, which it never generates here.
  return referencePageOf(document as unknown as ApiDocument, {
    ...{ styleSheet, home: 'Console', base: '' },
    start: start(document),
    errors: html`<p>
      Each error is a <a href="#Problem">Problem</a> with a <code>code</code> for programs and a
      <code>message</code> for people.
    </p>`,
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
