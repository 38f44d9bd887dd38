import { describe, expect, test } from '@jest/globals';
import { parseHtml } from '../../../../src/channels/email/normalize/html/html-tree.ts';
import { renderHtml } from '../../../../src/channels/email/normalize/html/render-html.ts';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';

const htmlLines = (html: string) => {
  const tree = parseHtml(html);
  if (tree === undefined) throw new Error('too deep');
  return renderHtml(tree, { format: 'TEXT', inlineImage: () => undefined });
};
const trim = (lines: ReturnType<typeof textLines>) => {
  const { lines: kept, cuts = [], stayed = [] } = trimQuotes(lines);
  return [joinLines(kept, 'TEXT'), ...[...cuts, ...stayed].map(({ rule }) => rule)];
};
const MARKED = { gmail: 'class="gmail_signature"', outlook: 'id="ms-outlook-mobile-signature"' };
const CARD =
  'Jane Roe<br>Head of Sales<br>Acme Ltd., Main St. 5<br>+49 30 1234567<br>www.x.example';
const QUOTE =
  '<div class="gmail_attr">On Fri, 27 Nov 2026 at 10:00, Acme wrote:</div><blockquote>Old.</blockquote>';

describe.each(Object.entries(MARKED))('an element of %s for the signature', (_, mark) => {
  const mail = (own: string, signature: string) =>
    trim(htmlLines(`<div>${own}</div><div ${mark}>${signature}</div>${QUOTE}`));

  test.each([
    ['a card', 'Thanks, it works.', CARD, 'Thanks, it works.'],
    ['a link', 'Done.', 'Ann Roe<br><a href="https://roe.example">www.roe.example</a>', 'Done.'],
    ['an address without a scheme', 'Done.', 'Ann Roe<br>linkedin.com/in/annroe', 'Done.'],
    ['a linked number', 'Done.', 'Ann<br><a href="tel:+4930123456">+49 30 123456</a>', 'Done.'],
    ['a street of Warsaw', 'Done.', 'Ann Roe<br>tel. 600 123 456<br>ul. Długa 5', 'Done.'],
    ['a company of Tokyo', 'Done.', '田中 花子<br>株式会社ロー', 'Done.'],
    ['pronouns', 'Done.', 'Ann Roe<br>she/her', 'Done.'],
    ['a colleague', 'Done.', 'i. A. Ann Roe', 'Done.'],
    ['a wish', 'Done.', 'Have a nice day!<br>Ann', 'Done.'],
    ['closings in two languages', 'Done.', 'Med venlig hilsen / Best regards<br>Ann', 'Done.'],
    ['a card with a lower-case position', 'Done.', 'Ann Roe<br>Account manager', 'Done.'],
    ['a slogan with a link', 'Done.', 'Follow us on our new page: https://x.example', 'Done.'],
    [
      'a disclaimer',
      'Done.',
      'Ann<br><br>This email is confidential and may be privileged. Please delete it.',
      'Done.',
    ],
  ])('goes with %s', (_what, own, signature, kept) => {
    expect(mail(own, signature)).toEqual([kept, 'signature_mark', 'attribution']);
  });

  test.each([
    ['a sentence', 'Hello Ann,<br>thanks for asking.', 'I take the blue one.'],
    ['a question', 'Thank you for that.', 'And the lamp?'],
    ['a plea', 'Thank you for that.', 'Size 42 please'],
    ['a wrapped sentence', 'Thank you for that.', 'we would like to have it sent to<br>our office'],
    ['Japanese', 'Thank you for that.', '青い方をお願いします。'],
  ])('stays with %s, above the rest of it', (_what, own, written) => {
    const text = `${own}<br>${written}`.split('<br>').join('\n');
    expect(mail(own, written)).toEqual([text, 'attribution', 'written_by_person']);
    expect(mail(own, `${written}<br><br>${CARD}`)).toEqual([
      text,
      'signature_mark',
      'attribution',
      'written_by_person',
    ]);
  });

  test.each([
    ['a greeting', 'Hi', 'Hi\n42'],
    ['a greeting with a name', 'Sehr geehrte Frau Roe,', 'Sehr geehrte Frau Roe,\n42'],
    ['any words with a comma', 'To whom it may concern,', 'To whom it may concern,\n42'],
  ])('stays below %s, whatever it is', (_what, own, kept) => {
    expect(mail(own, '42')).toEqual([kept, 'attribution', 'nothing_else']);
  });

  test('stays where nothing else is said, without the line of the program', () => {
    const signature = 'Size 42, and ship to Side St 2.<br><br>Sent from my iPhone';
    const [kept, ...rules] = mail('', signature);
    expect(kept).toBe('Size 42, and ship to Side St 2.');
    expect(rules).toEqual(['device', 'attribution', 'nothing_else']);
  });

  test.each([
    'Please call the number below.',
    'Bitte an die Anschrift in meiner Signatur.',
    'Mon numéro de téléphone est ci-dessous.',
    'Mi dirección está abajo.',
    '住所は下記です。',
  ])('stays when the text points to it: %s', (own) => {
    const [kept, ...rules] = mail(own, CARD);
    expect(kept).toContain('+49 30 1234567');
    expect(rules).toEqual(['attribution', 'pointed_to']);
  });
});

test.each([
  'it is the blue one',
  'Cancel my order 4711',
  'Still nothing arrived',
  'Refund me',
  'Die Lampe ist blau',
  'Größe L statt M',
  'la commande est la 4711',
  'Quiero cancelar',
  'хочу вернуть деньги',
  '注文番号は12345です',
  '请取消这个订单',
  'رقم الطلب 12345 واللون أزرق',
  '주문 번호는 12345 입니다',
  '12345',
  'Order number: 12345',
  'IBAN DE89 3704 0044 0532 0130 00',
  'PS: Blue',
  'VAT ID DE123456789<br>I need the invoice with this number again.',
  'This message is confidential please, do not tell my wife about order 4711!',
  'Thanks, it works now.',
  'Danke, hat geklappt!',
  "Oui, merci de l'annuler",
  'Best is the blue one',
  'LG TV is broken',
  '青でよろしくお願いします',
  '还没收到',
  'תודה אבל לא עובד',
  'No',
  'Ja, Montag',
])('what does not read like a signature stays: %s', (written) => {
  const [kept, ...rules] = trim(
    htmlLines(`<div>Thanks for that.</div><div ${MARKED.outlook}>${written}</div>${QUOTE}`),
  );
  expect(kept).toBe(`Thanks for that.\n${written.replace('<br>', '\n')}`);
  expect(rules).toEqual(['attribution', 'written_by_person']);
});

test.each([
  ['Please ship to the following address:', 'Ann Roe<br>12 Main Street'],
  ['You can reach me at', '0171 1234567'],
  ['Je vous donne mon adresse', '12 Rue de la Paix'],
  ['Bitte erstatten Sie auf dieses Konto', 'Ann Roe<br>DE89 3704'],
])('what the text announces stays: %s', (own, announced) => {
  const [kept] = trim(
    htmlLines(`<div>${own}</div><div ${MARKED.gmail}>${announced}</div>${QUOTE}`),
  );
  expect(kept).toBe(`${own}\n${announced.replace('<br>', '\n')}`);
});

describe('dashes', () => {
  test.each([
    ['a card', 'New.\n\n-- \nJane Roe\nAcme Ltd.', 'New.', 'signature_delimiter'],
    ['a full name, without the space', 'New.\n--\nJane Roe', 'New.', 'signature_delimiter'],
    [
      'a name and a number, without it',
      'New.\n--\nJane\n030 1234567',
      'New.',
      'signature_delimiter',
    ],
  ])('begin a signature: %s', (_, text, kept, rule) => {
    expect(trim(textLines(text))).toEqual([kept, rule]);
  });

  test('begin the footer of a list, below a signature', () => {
    const footer = '-- \nYou received this message because you are subscribed to the group "a".';
    expect(trim(textLines(`New.\n-- \nJane Roe\n${footer}`))).toEqual([
      'New.',
      'signature_delimiter',
      'signature_delimiter',
    ]);
  });

  test.each([
    ['between questions', 'One?\n--\nQuestion two', 'separator'],
    ['between the items of a list', 'Red\n--\nJane Green\n--\nJane Roe', 'separator'],
    ['in a list of two', 'One lamp\n--\nGreen Cable', 'separator'],
    ['above a label', 'New.\n-- \nSerial: 12-345', 'separator'],
    ['above a postscript', 'New.\n-- \nPS: the lamp too', 'letter'],
    ['above a long text', `New.\n-- \n${'a line\n'.repeat(21)}`.trimEnd(), 'letter'],
    ['above a sentence', 'New.\n-- \nI forgot the lamp.', 'written_by_person'],
    ['above a number of the person', 'New.\n-- \nJane Roe\nKd.-Nr. 4711', 'written_by_person'],
    ['above a serial number', 'New.\n-- \nJane Roe\nS/N 99-1234', 'written_by_person'],
    ['above a place', 'New.\n-- \n10115 Berlin', 'written_by_person'],
    ['above a day', 'New.\n-- \nMontag, 5. Dezember', 'written_by_person'],
    ['above an error', 'New.\n-- \nERROR 17\nCALL SERVICE', 'written_by_person'],
    ['above a list', 'New.\n-- \n- Aurora Lamp\n- Vega Bulb', 'written_by_person'],
    ['below a reference', 'Call the number below.\n\n-- \nJane\n030 123', 'pointed_to'],
  ])('separate paragraphs %s', (_, text, rule) => {
    expect(trim(textLines(text))).toEqual([text.replace('-- ', '--'), rule]);
  });
});

test('a hundred thousand signatures are read in linear time', () => {
  const html = `<p>Hi</p>${'<p class="gmail_signature">a b c d e f g</p><p>b</p>'.repeat(9000)}`;
  expect(trim(htmlLines(html)).length).toBeGreaterThan(1);
  const dashes = '-- \nYou received this message because you are subscribed to the group.\n';
  expect(trim(textLines(dashes.repeat(10_000)))).toContain('signature_delimiter');
});
