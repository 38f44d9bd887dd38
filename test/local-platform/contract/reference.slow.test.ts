import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { newVisitor, startBrowser, whyNoBrowser } from '../../support/browser.ts';
import { OPEN_POINTS } from '../../../src/local-platform/open-points.ts';
import { call, type ErrorBody, startPlatform } from '../harness.ts';
import { Contract } from './contract.ts';

const get = async (url: string) => {
  const answer = await fetch(url);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('the reference page', () => {
  it('needs no key and no script, and may load only its own style sheet', async () => {
    const { url } = await startPlatform();
    for (const path of ['/', '/reference', '/reference/']) {
      const { status, headers, text } = await get(url + path);
      expect([path, status, headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text).not.toMatch(/<script|<style|style=|\son\w+=|src=/);
    }
    const style = await get(`${url}/reference/style.css`);
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(style.text).not.toMatch(/@import|url\(/);
    const refused = await fetch(`${url}/reference`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('is linked from the page at the root, as is the document', async () => {
    const { url } = await startPlatform();
    const { text } = await get(`${url}/`);
    for (const path of ['/reference', '/v2026-04/openapi.json']) {
      expect(text).toContain(`href="${path}"`);
    }
    expect(text).toContain(`${url}/v2026-04/tickets/`);
  });

  it('has every operation, field, object and decision, and links that lead somewhere', async () => {
    const platform = await startPlatform();
    const contract = await Contract.of(platform);
    const { text } = await get(`${platform.url}/reference`);
    const ids = new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
    for (const [, anchor] of text.matchAll(/href="#([^"]+)"/g)) {
      expect([anchor, ids.has(anchor)]).toEqual([anchor, true]);
    }
    for (const [path, methods] of Object.entries(contract.document.paths)) {
      expect(text).toContain(`/v2026-04${path}`);
      for (const { operationId, parameters = [] } of Object.values(methods)) {
        expect(ids).toContain(operationId);
        for (const { name } of parameters) expect(text).toContain(`<code>${name}</code>`);
      }
    }
    for (const name of Object.keys(contract.document.components['schemas'] ?? {})) {
      expect(ids).toContain(name);
    }
    expect(text.match(/<tr>/g)?.length).toBeGreaterThan(OPEN_POINTS.length);
    expect(text).not.toMatch(/undefined|\[object/);
  });
});

const why = whyNoBrowser();
(why === undefined ? describe : describe.skip)(
  `the reference page in a browser ${why ?? ''}`,
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser.close());

    it.each([
      ['a wide screen', { width: 1440, height: 900 }, 'light'],
      ['a phone', { width: 375, height: 667 }, 'dark'],
    ] as const)('fits %s and breaks no rule of its own', async (_title, viewport, colorScheme) => {
      const { url } = await startPlatform();
      const visitor = await newVisitor(browser, { viewport, colorScheme });
      const page = await visitor.context.newPage();
      for (const path of ['/', '/reference']) {
        await page.goto(url + path);
        const overflow = 'document.documentElement.scrollWidth - innerWidth';
        expect([path, await page.evaluate<number>(overflow)]).toEqual([path, 0]);
      }
      // The style is in effect: code has its dark ground.
      const ground = 'getComputedStyle(document.querySelector("figure")).backgroundColor';
      expect(await page.evaluate(ground)).not.toBe('rgba(0, 0, 0, 0)');
      await page.getByRole('link', { name: 'Get conversation' }).first().click();
      const heading = page.getByRole('heading', { name: 'Get conversation' });
      await heading.waitFor();
      const box = await heading.boundingBox();
      expect(box?.y).toBeGreaterThanOrEqual(0);
      expect(box?.y).toBeLessThan(viewport.height);
      expect([visitor.faults, visitor.strangers]).toEqual([[], []]);
    });
  },
);

it('an unknown path is answered with an error like any other', async () => {
  const platform = await startPlatform();
  const { status, body } = await call<ErrorBody>(platform, 'GET', `${platform.url}/favicon.ico`);
  expect([status, body.error.code]).toEqual([404, 'not_found']);
});
