import { expect } from '@jest/globals';
import { describeInBrowser } from './setting.ts';

describeInBrowser('the chat in a browser', (test) => {
  test('a message is accepted, then delivered, and its reply is shown once', async (setting) => {
    const { chat } = await setting.visit();
    await chat.open();
    let atThePlatform: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      atThePlatform = resolve;
    });
    setting.platform.gate = (call) =>
      call === 'POST /messages/' ? held.then(() => 'pass' as const) : undefined;
    try {
      await chat.send('Where is my parcel?');
      await chat.reaches('Where is my parcel?', 'accepted');
      expect(setting.arrived('Where is my parcel?')).toHaveLength(0);
    } finally {
      setting.platform.gate = () => undefined;
      atThePlatform();
    }
    await chat.reaches('Where is my parcel?', 'delivered');
    const lines = await chat.shows(['Where is my parcel?', 'You said: Where is my parcel?']);
    expect(lines.map(({ from }) => from)).toEqual(['visitor', 'agent']);
    expect(setting.arrived('Where is my parcel?')).toHaveLength(1);

    // Nothing comes twice, whatever else comes after it.
    await chat.send('Thank you');
    await chat.shows([
      'Where is my parcel?',
      'You said: Where is my parcel?',
      'Thank you',
      'You said: Thank you',
    ]);
    expect(await chat.input.inputValue()).toBe('');
  });
});
