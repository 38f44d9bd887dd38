import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { ChatPage } from './chat-page.ts';
import { QUIET } from './scripted-agent.ts';
import { axeFindings } from '../../support/axe.ts';
import { describeInBrowser, type Setting } from './setting.ts';

interface GivenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** A picture that every decoder takes: one red pixel, with bytes after its end. */
const picture = (name: string): GivenFile => ({
  name,
  mimeType: 'image/png',
  buffer: Buffer.concat([
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
      'base64',
    ),
    randomBytes(200_000),
  ]),
});

const note = (name: string): GivenFile => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from('first line\r\nsecond line: ünïcödé\n'),
});

describeInBrowser('files', (test) => {
  test('a file that is chosen arrives byte by byte, beside the words', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    const files = [picture('receipt.png'), note('notes.txt')];
    await choose(chat, files);
    for (const { name } of files) await chat.uploaded(name);
    await chat.drawn(chat.host.locator('.tray'));
    await chat.send(`${QUIET}chosen`);
    await chat.reaches('chosen', 'delivered');
    expectFiles(setting, `${QUIET}chosen`, files);
    await chat.line('chosen').getByText('notes.txt').waitFor();
  });

  test('a file that is dropped on the panel arrives', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    const file = picture('dropped.png');
    await give(chat, 'drop', file);
    await chat.uploaded(file.name);
    await chat.send(`${QUIET}dropped`);
    await chat.reaches(`${QUIET}dropped`, 'delivered');
    expectFiles(setting, `${QUIET}dropped`, [file]);
  });

  test('a picture that is pasted arrives, without a word beside it', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    const file = picture('pasted.png');
    await give(chat, 'paste', file);
    await chat.uploaded(file.name);
    await chat.button('Send').click();
    await chat.log.locator('[data-from="visitor"][data-state="delivered"]').waitFor();
    const stored = setting.platform.messages.flatMap(({ id }) =>
      setting.platform.inspect.attachments(id).filter(({ name }) => name === 'pasted.png'),
    );
    expect(stored.map(({ path }) => readFileSync(path))).toEqual([file.buffer]);
  });

  test('a file that is uploaded is still there after a reload, and goes with the words', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    const files = [picture('kept.png'), note('kept.txt')];
    await choose(chat, [...files, note('removed.txt')]);
    for (const { name } of files) await chat.uploaded(name);
    await chat.uploaded('removed.txt');
    await chat.button('Remove removed.txt').click();
    await chat.type('half a thought');
    await chat.page.reload();
    await chat.open();
    for (const { name } of files) await chat.uploaded(name);
    expect(await chat.button('Remove removed.txt').count()).toBe(0);
    expect(await chat.input.inputValue()).toBe('half a thought');
    await chat.send(`${QUIET}after the reload`);
    await chat.reaches('after the reload', 'delivered');
    expectFiles(setting, `${QUIET}after the reload`, files);
    expect(await chat.button('Remove kept.txt').count()).toBe(0);
  });

  test('a type that is refused says so, and keeps nothing from being sent', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await choose(chat, [
      {
        name: 'page.html',
        mimeType: 'text/html',
        buffer: Buffer.from('<!doctype html><html><body><script>1</script></body></html>'),
      },
    ]);
    await chat.host.getByText('This file type can’t be sent').first().waitFor();
    await chat.button('Remove page.html').click();
    await chat.send(`${QUIET}then without it`);
    await chat.reaches('then without it', 'delivered');
    expectFiles(setting, `${QUIET}then without it`, []);
  });

  test('a picture opens over the page of a strict shop, is saved from there, and closes', async (setting) => {
    const { chat } = await setting.visit({ strict: true });
    await chat.open();
    await choose(chat, [picture('lamp.png')]);
    await chat.button('Send').click();
    const thumbnail = chat.log.getByRole('button', { name: 'Open lamp.png' });
    await thumbnail.click();
    const viewer = chat.host.getByRole('dialog', { name: 'lamp.png' });
    await viewer.waitFor();
    expect(await axeFindings(chat.page)).toEqual([]);
    const downloading = chat.page.waitForEvent('download');
    await viewer.getByRole('button', { name: 'Save' }).click();
    expect((await downloading).suggestedFilename()).toBe('lamp.png');
    await chat.page.keyboard.press('Escape');
    await viewer.waitFor({ state: 'detached' });
    await expect(chat.panel.isVisible()).resolves.toBe(true);
    await thumbnail.click();
    await viewer.getByRole('button', { name: 'Dismiss' }).click();
    await viewer.waitFor({ state: 'detached' });
  });

  test('an own picture can be seen after a reload', async (setting) => {
    const { chat } = await setting.visit({ strict: true });
    await chat.open();
    await choose(chat, [picture('mine.png')]);
    await chat.uploaded('mine.png');
    await chat.send(`${QUIET}look`);
    await chat.reaches('look', 'delivered');
    await chat.page.reload();
    await chat.open();
    await chat.drawn(chat.line('look'));
  });
});

async function choose(chat: ChatPage, files: readonly GivenFile[]): Promise<void> {
  const choosing = chat.page.waitForEvent('filechooser');
  await chat.button('Attach files').click();
  await (await choosing).setFiles([...files]);
}

/** As an operating system hands a file to a page. */
async function give(chat: ChatPage, how: 'drop' | 'paste', file: GivenFile): Promise<void> {
  const transfer = await chat.page.evaluateHandle(
    ({ name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name, { type }));
      return data;
    },
    { name: file.name, type: file.mimeType, base64: file.buffer.toString('base64') },
  );
  if (how === 'drop') {
    for (const event of ['dragenter', 'dragover', 'drop']) {
      await chat.panel.dispatchEvent(event, { dataTransfer: transfer });
    }
  } else {
    await chat.input.evaluate((input, clipboardData) => {
      input.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, composed: true }),
      );
    }, transfer);
  }
}

function expectFiles(setting: Setting, words: string, files: readonly GivenFile[]): void {
  const [message, ...more] = setting.arrived(words);
  expect(more).toEqual([]);
  const stored = setting.platform.inspect.attachments(message?.id ?? '');
  expect(stored.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
  expect(stored.map(({ path }) => readFileSync(path))).toEqual(files.map(({ buffer }) => buffer));
}
