import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { PASSWORD } from '../server/console-scene.ts';
import { AUTH_TOKEN } from '../../support/twilio-stand-in.ts';
import { ACME, CHAT_KEY, INBOX, PUBLIC_URL } from '../../support/gateway-config.ts';
import { ends } from '../../support/ends.ts';
import { ScriptedPlatform } from '../../support/scripted-platform.ts';
import { describeConsole } from './console-visit.ts';

interface File {
  shops: Record<string, unknown>[];
  smtp: Record<string, unknown>;
}

/** Changes the file of a gateway that runs. */
function edit(dataDir: string, change: (file: File) => void): void {
  const path = join(dataDir, 'gateway.json');
  // As test/support/gateway-config.ts has written it.
  const file = JSON.parse(readFileSync(path, 'utf8')) as File;
  change(file);
  writeFileSync(path, JSON.stringify(file));
}

describeConsole('the configuration', (test) => {
  test('shows addresses and effective values, and no secret', async (visit) => {
    const { page } = await visit({ path: '/configuration' });
    await page.getByText(INBOX).first().waitFor();
    await page.getByText(`${PUBLIC_URL}/sms/twilio`).first().waitFor();
    const assertNoSecret = async () => {
      const text = await page.locator('main').innerText();
      for (const secret of [PASSWORD, AUTH_TOKEN, ACME.apiKey]) expect(text).not.toContain(secret);
    };
    await assertNoSecret();
    await page.getByRole('tab', { name: 'Effective values' }).click();
    await assertNoSecret();
    await page.getByRole('searchbox').fill('no such key');
    await page.getByText('No matching values.').waitFor();
    await page.getByRole('searchbox').fill('http publicurl');
    await page.getByText('1 value', { exact: true }).waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Only non-default values').check();
    await page.getByText('http.publicUrl').waitFor();
  });

  test('asks before a real platform gets a test message', async (visit) => {
    const platform = new ScriptedPlatform();
    const platformUrl = await platform.start();
    ends(() => platform.stop());
    const { page } = await visit({ gateway: { platformUrl }, path: '/configuration' });
    const button = page.getByRole('button', { name: 'Send a test message: SMS, acme' });
    await button.click();
    const dialog = page.getByRole('dialog', { name: 'Send a test message to acme?' });
    await dialog.getByText(platformUrl).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await button.click();
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('link', { name: 'Accepted. Show the message' }).click();
    await page.getByText('The platform has accepted it.').waitFor();
    expect(platform.of('POST /messages/')).toHaveLength(1);
  });

  test("the widget's snippet is copied", async (visit) => {
    const { page } = await visit({ path: '/configuration' });
    await page.getByRole('button', { name: 'Copy the snippet' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain(`${PUBLIC_URL}/widget.js`);
    expect(copied).toContain(`data-key="${CHAT_KEY}"`);
  });

  test('a change of the file is pending, and taken up by Reload', async (visit) => {
    const { page, dataDir } = await visit({ path: '/configuration' });
    await page.getByText('None: the gateway runs with the configuration in the file.').waitFor();
    edit(dataDir, ({ shops }) => {
      Object.assign(shops[0] ?? {}, { apiKey: 'another-key-of-acme' });
    });
    await page.reload();
    await page.getByText('applied by Reload').first().waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText(/^Applied \d+ change/).waitFor();
    await page.getByText('None: the gateway runs with the configuration in the file.').waitFor();
  });

  test('what needs a restart is said to', async (visit) => {
    const { page, dataDir } = await visit({ path: '/configuration' });
    await page.getByText('None: the gateway runs with the configuration in the file.').waitFor();
    edit(dataDir, ({ smtp }) => {
      smtp['hostname'] = 'another.acme.example';
    });
    await page.reload();
    await page.getByText('needs a restart').first().waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('Applied after a restart of the gateway:').waitFor();
  });

  test('a mistake in the file is told, and the gateway goes on', async (visit) => {
    const { page, dataDir } = await visit({ path: '/configuration' });
    await page.getByText('None: the gateway runs with the configuration in the file.').waitFor();
    edit(dataDir, ({ smtp }) => {
      smtp['port'] = 'a door';
    });
    await page.reload();
    await page.getByText('is not valid. The gateway keeps its current configuration').waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('Reload failed: the file has errors.').waitFor();
    await page.getByText('smtp.port').first().waitFor();
  });
});
