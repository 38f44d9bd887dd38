import { expect } from '@jest/globals';
import type { AuditPage } from '../../../src/console/contract.ts';
import { INBOX } from '../../support/gateway-config.ts';
import { waitFor } from '../../support/wait-for.ts';
import { zipContents } from '../../support/zip-contents.ts';
import { consoleClient } from '../server/console-client.ts';
import { PASSWORD } from '../server/console-scene.ts';
import { describeConsole } from './console-visit.ts';
import { sendEmail, sendText } from './first-messages.ts';

const CARLA = 'carla@customer.example';

describeConsole('what is stored about a person', (test) => {
  test('is found, exported and erased, and that of others stays', async (visit) => {
    const { page, gateway } = await visit();
    await sendEmail(gateway, 'A parcel');
    await sendText(gateway, 'kept');
    const operator = consoleClient(gateway.adminUrl);
    await operator.signIn(PASSWORD);
    const delivered = async () => {
      const { text } = await operator.get('/api/entries?state=delivered');
      return (text.match(/"state":"delivered"/g) ?? []).length;
    };
    await waitFor('both messages', async () => (await delivered()) === 2, 50);

    await page.goto(`${gateway.adminUrl}/people`);
    const search = async (address: string) => {
      await page.getByLabel('Email address, phone number').fill(address);
      await page.getByRole('button', { name: 'Search' }).click();
    };
    await search(CARLA);
    await page.getByRole('heading', { name: `What is stored: ${CARLA}` }).waitFor();
    await page.getByText('acme: email entries 1').waitFor();

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as ZIP' }).click();
    const files = await zipContents(await (await downloading).path());
    const mail = [...files].find(([name]) => name.endsWith('message.eml'))?.[1];
    expect(mail?.toString()).toContain('Where is my parcel?');

    await page.getByRole('button', { name: 'Erase …' }).click();
    const dialog = page.getByRole('dialog', { name: `Erase ${CARLA} permanently?` });
    await dialog.getByRole('button', { name: 'Erase permanently' }).click();
    await page.getByRole('heading', { name: `Erased: ${CARLA}` }).waitFor();
    expect(await delivered()).toBe(1);
    const { lines } = (await operator.get('/api/audit')).body as AuditPage;
    const own = lines.filter(({ action }) => action === 'erase' || action === 'export');
    expect(own.map(({ who }) => who.replace(/:.*/, ''))).toEqual([
      ...['terminal', 'terminal', 'operator', 'terminal', 'operator'],
    ]);
    expect(JSON.stringify(own)).not.toContain(CARLA);

    await search(CARLA);
    await page.getByText('Nothing is stored about this person.').waitFor();
    // What is refused shows nothing that a button would then erase.
    await search(INBOX);
    await page.getByText("is one of acme's own addresses").waitFor();
    expect(await page.getByRole('button', { name: 'Erase …' }).count()).toBe(0);
  });

  test('is searched for by one at a time, and by operators alone', async (visit) => {
    const { gateway } = await visit();
    const operator = consoleClient(gateway.adminUrl);
    await operator.signIn(PASSWORD);
    const searched = await Promise.all(
      [1, 2].map(() => operator.post('/api/people/search', { address: CARLA })),
    );
    expect(searched.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect((await operator.post('/api/people/search', { address: 'a\nb' })).status).toBe(400);
    const nobody = await operator.post('/api/people/export', { address: CARLA });
    expect(nobody).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(nobody.text).toContain('nothing is stored about this person');
    const { body } = await operator.post('/api/tokens', {
      ...{ name: 'ci', scope: 'operate', lifetimeMs: null },
    });
    const asked = await consoleClient(gateway.adminUrl).ask('/api/people/erase', {
      ...{ method: 'POST', body: { address: CARLA } },
      headers: { authorization: `Bearer ${(body as { readonly secret: string }).secret}` },
    });
    expect(asked.status).toBe(403);
  });
});
