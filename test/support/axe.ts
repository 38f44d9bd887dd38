import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe finds fault with in a page, shadow roots included: a line for each element. Frames are
 * left out: what they show here is a customer's mail.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<Pick<axe.AxeResults, 'violations'>>(
    `axe.run({ resultTypes: ['violations'], iframes: false })`,
  );
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) =>
      [id, help, JSON.stringify(target), failureSummary].join(' | '),
    ),
  );
}
