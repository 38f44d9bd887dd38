import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a shop's page shows the widget. */
export interface HostPage {
  /** Where the script comes from. */
  readonly gatewayUrl: string;
  readonly key: string;
  /** More attributes of the script's tag: `{'pre-chat': 'required'}`. */
  readonly data?: Readonly<Record<string, string>>;
  readonly lang?: string;
  readonly dir?: 'ltr' | 'rtl';
  /** Nothing but what the widget needs: `script-src` and `connect-src` of the gateway. */
  readonly strict?: boolean;
  /** Its `color-scheme`; none by default. */
  readonly scheme?: string;
}

/** A shop's own web site, on an origin of its own; a page is described by its address. */
export interface HostSite {
  readonly origin: string;
  pageUrl(page: HostPage): string;
  stop(): Promise<void>;
}

export async function startHostSite(): Promise<HostSite> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site.example');
    const page = url.searchParams.get('page');
    if (url.pathname === '/' && page !== null) {
      // Written by `pageUrl`.
      answer(response, JSON.parse(page) as HostPage);
    } else {
      response.writeHead(url.pathname === '/favicon.ico' ? 204 : 404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an AddressInfo; the other types are for pipes.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    pageUrl: (page) => `${origin}/?page=${encodeURIComponent(JSON.stringify(page))}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(response: ServerResponse, page: HostPage): void {
  const { gatewayUrl, key, data = {}, lang = 'en', dir = 'ltr', strict = false } = page;
  const { scheme = '' } = page;
  const attributes = Object.entries({ key, ...data }).map(
    ([name, value]) => ` data-${name}="${escapeAttribute(value)}"`,
  );
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    ...(strict && { 'content-security-policy': contentSecurityPolicy(gatewayUrl) }),
  });
  response.end(`<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
${scheme === '' ? '' : `<meta name="color-scheme" content="${escapeAttribute(scheme)}">`}
<title>A shop</title>
<link rel="icon" href="/favicon.ico">
</head>
<body>
<main>
<h1>A shop</h1>
<p>Words of the shop, and <a href="#here" id="shop-link">a link</a>.</p>
<button id="shop-button">A button of the shop</button>
</main>
<script async src="${gatewayUrl}/widget.js"${attributes.join('')}></script>
</body>
</html>
`);
}

const escapeAttribute = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

function contentSecurityPolicy(gatewayUrl: string): string {
  const sockets = gatewayUrl.replace('http', 'ws');
  return [
    "default-src 'none'",
    `script-src ${gatewayUrl}`,
    `connect-src ${gatewayUrl} ${sockets}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
