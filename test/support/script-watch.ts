import type { BrowserContext, Page } from 'playwright-core';

/** What the pages and frames of a browser did that nothing of a message may make them do. */
export interface ScriptWatch {
  /** Calls of what a script that got in would call, and markup of a message that became elements. */
  readonly seen: readonly string[];
  /** Requests that went elsewhere than to these origins. */
  readonly strangers: readonly string[];
}

/**
 * Watches every frame of every page of the context, from the next document on: dialogs, windows, scripts,
 * navigation, requests, what the browser's policies stopped, and elements that no page here makes.
 * @param origins where requests and pages may go
 */
export async function watchScripts(
  context: BrowserContext,
  origins: readonly string[],
): Promise<ScriptWatch> {
  const seen: string[] = [];
  const strangers: string[] = [];
  const isOurs = (url: string): boolean =>
    url === 'about:blank' || url.startsWith('blob:') || origins.includes(new URL(url).origin);
  await context.exposeBinding('reportScript', ({ frame }, what: string) => {
    seen.push(`${what} (in ${frame.url()})`);
  });
  await context.addInitScript(WATCH);
  context.on('request', (request) => {
    if (!isOurs(request.url()) && !request.url().startsWith('data:image/')) {
      strangers.push(`${request.resourceType()} ${request.url()}`);
    }
  });
  const follow = (page: Page): void => {
    if (context.pages().length > 1) seen.push(`another page: ${page.url()}`);
    page.on('dialog', (dialog) => {
      seen.push(`a dialog: ${dialog.message()}`);
      // It is gone already when its page is.
      dialog.dismiss().catch(() => undefined);
    });
    page.on('pageerror', ({ message }) => seen.push(`an error: ${message}`));
    // "Refused to …", "Blocked script execution in …": it was stopped at the last door only.
    page.on('console', (message) => {
      const told = message.text();
      // What watches is a script too, and is blocked by a sandbox like any other.
      if (/^Blocked script execution in '[^']*\/html'/.test(told)) return;
      if (message.type() === 'error') seen.push(`the browser says: ${told}`);
    });
    page.on('framenavigated', (frame) => {
      if (!isOurs(frame.url())) seen.push(`went to ${frame.url()}`);
    });
    page.on('download', (download) => seen.push(`a download: ${download.url()}`));
  };
  context.pages().forEach(follow);
  context.on('page', follow);
  return { seen, strangers };
}

/**
 * As source, since it runs in the page before anything else there. What a page makes itself has no
 * handlers in attributes, no frame without `sandbox=""`, and nothing else of what is looked for; the
 * shop's page has its link and its script.
 */
const WATCH = `(() => {
  const report = window.reportScript;
  const told = new Set();
  const tell = (what) => {
    if (told.has(what)) return;
    told.add(what);
    report(what);
  };
  for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
    window[name] = (...values) => tell('called ' + name + '(' + values.join() + ')');
  }
  const FORBIDDEN = 'object,embed,applet,base,template,noscript:not(body > noscript),noembed,noframes,math,plaintext,xmp,listing,marquee,' +
    'foreignObject,animate,set,area,audio,video,picture,source,track,[srcdoc],[background],[ping],[formaction],' +
    'a[name],a[id]:not(#shop-link),img[name],meta[http-equiv],iframe:not([sandbox=""]),svg script,svg style,svg a,svg image';
  const HOME = 'script,link,meta,style';
  const look = (element) => {
    if (element.ownerDocument !== document) return;
    const short = () => element.outerHTML.slice(0, 200);
    if (element.matches(FORBIDDEN)) tell('an element: ' + short());
    if (element.matches(HOME) && element.closest('head') === null) {
      // The tag by which a shop's page loads the widget.
      if (!(element.matches('script[src$="/widget.js"]') && element.parentNode === document.body)) {
        tell('an element: ' + short());
      }
    }
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on')) tell('a handler: ' + short());
      if (/^(xlink:)?(href|src|action|poster|data|srcset)$/.test(name) && value !== '') {
        const { protocol } = new URL(value, location.href);
        if (!/^(https?|mailto|tel|blob):$/.test(protocol)) {
          if (!(name === 'src' && value.startsWith('data:image/'))) tell('an address: ' + short());
        }
      }
    }
  };
  const lookAll = (node) => {
    if (node.nodeType !== 1) return;
    look(node);
    node.querySelectorAll('*').forEach(look);
  };
  const observer = new MutationObserver((changes) => {
    for (const { target, type, addedNodes } of changes) {
      if (type === 'attributes') look(target);
      else addedNodes.forEach(lookAll);
    }
  });
  const watch = (root) => observer.observe(root, { subtree: true, childList: true, attributes: true });
  watch(document);
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (how) {
    const root = attach.call(this, how);
    watch(root);
    return root;
  };
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
    tell('stopped by the policy: ' + effectiveDirective + ' ' + blockedURI + ' ' + sample);
  });
})();`;
