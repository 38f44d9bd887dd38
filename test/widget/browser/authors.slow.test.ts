import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { axeFindings } from '../../support/axe.ts';
import { changeMessages } from './platform-changes.ts';
import { describeInBrowser } from './setting.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-authors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const picture = join(folder, 'mia.png');
writeFileSync(
  picture,
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
);
const TOM = '3f0c2a4e-5b7d-4c1a-9e8f-6a2b1d0c4e5f';

describeInBrowser(
  'who answers',
  (test) => {
    test('is named before the first reply, and with each', async (setting) => {
      const { chat } = await setting.visit({ data: { greeting: 'Hello!' } });
      await chat.open();
      const head = chat.panel.locator('header');
      await head.getByRole('heading', { name: 'Mia', exact: true }).waitFor();
      await head.getByText('AI assistant').waitFor();
      // Fetched from the gateway and drawn: the page allows no pictures of other origins.
      await chat.drawn(head.locator('.avatar'));
      changeMessages(setting, 'You said: A person, please', { user_id: TOM });
      await chat.send('Hello');
      const first = chat.line('You said: Hello');
      await first.getByText('Mia · AI assistant').waitFor();
      await chat.drawn(first.locator('.avatar'));

      await chat.send('A person, please');
      const second = chat.line('You said: A person');
      await second.getByText('Tom Baker · Team member').waitFor();
      expect(await second.locator('.avatar').innerText()).toBe('TB');
      await head.getByRole('heading', { name: 'Tom Baker', exact: true }).waitFor();
      expect(await axeFindings(chat.page)).toEqual([]);

      await chat.page.reload();
      await chat.line('You said: A person').getByText('Tom Baker · Team member').waitFor();
    });
  },
  {
    widget: {
      agent: { name: 'Mia', picture },
      people: [{ id: TOM.toUpperCase(), name: 'Tom Baker' }],
    },
  },
);
