import { html, type Markup } from '../../runtime/markup.ts';

/** `GET /`: what this is, and where to go on. */
export const homePage = (baseUrl: string): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Local platform</title>
        <link rel="stylesheet" href="/reference/style.css" />
      </head>
      <body class="front">
        <main>
          <h1>The local platform is running</h1>
          <p>
            It is a complete implementation of the customer-support platform's REST API for one
            machine. What it is given it keeps, and an agent answers.
          </p>
          <p class="ways">
            <a class="way" href="/reference"
              ><b>API reference</b> All operations, with an example each</a
            >
            <a class="way" href="/v2026-04/openapi.json"
              ><b>openapi.json</b> The same for programs</a
            >
          </p>
          <figure>
            <figcaption>A first call</figcaption>
            <pre tabindex="0"><code class="line">curl '${baseUrl}/v2026-04/tickets/' \\
  -H "Authorization: Bearer $API_KEY" \\
  -H "X-Shop-Id: $SHOP_ID"</code></pre>
          </figure>
          <p class="quiet">
            The key and the id of a shop are in the configuration; those of the demo shop are
            printed at the start.
          </p>
        </main>
      </body>
    </html>`;
