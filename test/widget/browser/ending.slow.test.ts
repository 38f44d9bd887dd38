import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { holdReplies } from './platform-changes.ts';
import { describeInBrowser } from './setting.ts';

describeInBrowser('the end of a conversation', (test) => {
  test('is rated once, and the next message opens another one', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.button('More').click();
    await expect(chat.host.getByRole('menuitem').count()).resolves.toBe(0);
    await chat.page.keyboard.press('Escape');
    await chat.send('A matter to end');
    await chat.line('You said: A matter to end').waitFor();
    await chat.choose('End conversation');
    const question = chat.host.getByRole('group', { name: 'How was this chat?' });
    await expect(question.getByRole('button', { name: 'Send' }).isDisabled()).resolves.toBe(true);
    // The question has the focus: the keys choose.
    await chat.page.keyboard.press('Space');
    await expect(question.getByRole('radio', { name: 'Bad' }).isChecked()).resolves.toBe(true);
    await question.getByRole('radio', { name: 'Good', exact: true }).check();
    await chat.page.keyboard.press('ArrowRight');
    await question.getByLabel('Tell us more (optional)').fill('Quick.');
    await question.getByRole('button', { name: 'Send' }).click();
    await chat.host.getByText('Thank you for your rating.').waitFor();
    const saving = chat.page.waitForEvent('download');
    await chat.button('Save transcript').click();
    expect(readFileSync(await (await saving).path(), 'utf8')).toContain('A matter to end');
    await waitFor('the rating to arrive', () => setting.platform.events.length > 0);
    const [rating, ...others] = setting.platform.events;
    expect(others).toEqual([]);
    expect(rating).toMatchObject({ name: 'Chat rated 5 of 5', description: 'Quick.' });
    await chat.send('Another matter');
    await chat.line('You said: Another matter').waitFor();
    await expect(chat.host.getByText('Thank you for your rating.').count()).resolves.toBe(0);
    const conversations = [
      ...setting.arrived('A matter to end'),
      ...setting.arrived('Another matter'),
    ].map((row) => row.conversation_id);
    expect(new Set(conversations).size).toBe(2);
  });

  test('is not interrupted by a reply', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    const release = holdReplies(setting);
    await chat.send('Thanks, bye');
    await chat.reaches('Thanks, bye', 'delivered');
    await chat.choose('End conversation');
    const question = chat.host.getByRole('group', { name: 'How was this chat?' });
    await question.getByRole('radio', { name: 'Good', exact: true }).check();
    await question.getByLabel('Tell us more (optional)').fill('Half a sent');
    release();
    await chat.line('You said: Thanks, bye').waitFor();
    await chat.page.keyboard.type('ence.');
    await question.getByRole('button', { name: 'Send' }).click();
    await chat.host.getByText('Thank you for your rating.').waitFor();
    await waitFor('the rating to arrive', () =>
      setting.platform.events.some(({ description }) => description === 'Half a sentence.'),
    );
  });

  test('can be skipped, and is left by writing on', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    await chat.send('A matter to go on with');
    await chat.line('You said: A matter to go on with').waitFor();
    await chat.choose('End conversation');
    const question = chat.host.getByRole('group', { name: 'How was this chat?' });
    await question.waitFor();
    await chat.send('One more thing');
    await question.waitFor({ state: 'detached' });
    await chat.line('You said: One more thing').waitFor();
    await chat.choose('End conversation');
    await question.getByRole('button', { name: 'Skip' }).click();
    await chat.host.getByText('New conversation').waitFor();
    await question.waitFor({ state: 'detached' });
    // What is typed next goes into the field.
    await chat.page.keyboard.type('Hello again');
    await expect(chat.input.inputValue()).resolves.toBe('Hello again');
  });

  test('leaves a transcript to save', async (setting) => {
    const { chat } = await setting.visit({ strict: true });
    await chat.open();
    await chat.type('Words to keep\nin two lines');
    await chat.input.press('Enter');
    await chat.line('You said: Words to keep').waitFor();
    const downloading = chat.page.waitForEvent('download');
    await chat.choose('Save transcript');
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^chat-\d{4}-\d\d-\d\d\.txt$/);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text).toMatch(
      / {2}You\nWords to keep\nin two lines\n\n.* {2}Chat with us\nYou said: Words to keep/,
    );
  });
});
