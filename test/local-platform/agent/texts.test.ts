import { describe, expect, it } from '@jest/globals';
import { intentOf } from '../../../src/local-platform/agent/intent.ts';
import { languageOf } from '../../../src/local-platform/agent/language.ts';
import { smsText } from '../../../src/local-platform/agent/builtin-agent.ts';

it.each([
  ['Where is my order?', 'en'],
  ['hello', 'en'],
  ['Do you have size 42', 'en'],
  ['Wo ist mein Paket?', 'de'],
  ['Danke!', 'de'],
  ['Die Größe passt nicht, was kann ich tun?', 'de'],
  ['Où est mon colis ?', 'fr'],
  ['Merci beaucoup', 'fr'],
  ["C'est quand la livraison ?", 'fr'],
  ['¿Dónde está mi pedido?', 'es'],
  ['hola', 'es'],
  ['Quiero devolver los zapatos', 'es'],
  ['', undefined],
  ['42', undefined],
  ['PayPal?', undefined],
  ['Hallo, waar is mijn pakket?', undefined],
  ['Dove è il mio pacco?', 'it'],
  ['Onde está o meu pedido? Obrigado', undefined],
  ['注文はどこですか', undefined],
  ['أين طلبي؟', undefined],
])('the language of %j is %s', (text, language) => expect(languageOf(text)).toBe(language));

it.each([
  ['Hi', 'greeting'],
  ['hello there!', 'greeting'],
  ['Guten Tag', 'greeting'],
  ['Hey Kaj', 'greeting'],
  ['hello where is my order', 'question'],
  ['Hi, shipping?', 'question'],
  ['thanks!', 'thanks'],
  ['Ok, thank you very much 😊', 'thanks'],
  ['Danke schön!', 'thanks'],
  ['ok', 'thanks'],
  ['No', 'no'],
  ['Thanks. Where is it now', 'question'],
  ['thanks, and what about returns?', 'question'],
  ['', 'question'],
  ['human', 'person'],
  ['Stop.', 'person'],
  ['Opt-out', 'person'],
  ['remove me!', 'person'],
  ['ALTO', 'person'],
  ['Don’t text me.', 'person'],
  ['Cancel.', 'question'],
  ['Stop the delivery of my order', 'question'],
])('%j is a %s', (text, intent) => expect(intentOf(text, undefined)).toBe(intent));

describe('a text message', () => {
  it.each([
    ['**Bold** and _slanted_ and `code`', 'Bold and slanted and code'],
    ['# Heading\n\n* one\n* two', 'Heading\n\n* one\n* two'],
    [
      '[here](https://x.example) [https://y.example](https://y.example)',
      'here (https://x.example) https://y.example',
    ],
    ['snake_case_name 2 * 3 * 4', 'snake_case_name 2 * 3 * 4'],
    ['```\ncode\n```', 'code'],
  ])('has no Markdown: %j', (markdown, expected) => expect(smsText(markdown, 440)).toBe(expected));

  it('ends with a whole sentence and an ellipsis', () => {
    const long = 'This is one sentence of many. '.repeat(100);
    expect(smsText(long, 900)).toMatch(/^(?:This is one sentence of many\. ){20,30}\.\.\.$/);
    expect(smsText(long, 70)).toBe(
      'This is one sentence of many. This is one sentence of many. ...',
    );
  });
});

it.each([
  'thank you '.repeat(20_000),
  'human '.repeat(50_000),
  'speak to a '.repeat(30_000),
  '* _'.repeat(60_000),
  '['.repeat(200_000),
  'mit einem '.repeat(30_000),
])('a hostile text takes no time: %#', (text) => {
  const start = performance.now();
  intentOf(text, text);
  languageOf(text);
  smsText(text, 440);
  expect(performance.now() - start).toBeLessThan(10_000);
});
