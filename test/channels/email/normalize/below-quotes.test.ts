import { describe, expect, test } from '@jest/globals';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';

const trimText = (text: string) => joinLines(trimQuotes(textLines(text)).lines, 'TEXT');

describe('what stands below a quote without being an answer', () => {
  const attribution = 'On 5 Jan 2026 at 10:00 X <x@y.example> wrote:';
  test.each([
    [
      'the footer of Mailman',
      `${'_'.repeat(47)}\nUsers mailing list\nUsers@lists.example\nhttps://lists.example/listinfo/users`,
    ],
    [
      'that of Google Groups',
      'You received this message because you are subscribed to the group "a".\nTo unsubscribe, write to a+unsubscribe@x.example.',
    ],
    [
      'a virus scanner',
      'This email has been checked for viruses by Avast antivirus software.\nwww.avast.com',
    ],
    [
      'the same in Dutch',
      'Dit e-mailbericht is gecontroleerd op virussen met Avast antivirussoftware.\nhttps://www.avast.com/antivirus',
    ],
    [
      'AVG',
      'No virus found in this message.\nChecked by AVG - www.avg.com\nVersion: 2015.0.1 / Virus Database: 4311/1',
    ],
    [
      'a disclaimer in French',
      "Ce message et ses pièces jointes sont confidentiels et destinés à l'usage exclusif du destinataire. Si vous l'avez reçu par erreur, merci de le détruire.",
    ],
    ['a device line', 'Sent from my iPhone'],
    ['a signature', '-- \nAnn'],
    ['a recipient', 'This message is intended only for the addressee.'],
    ['a recipient, in German', 'Der Inhalt dieser E-Mail ist nur für den Adressaten bestimmt.'],
    ['a short disclaimer, in Czech', 'Tato zpráva je důvěrná.'],
    ['a short disclaimer, in Chinese', '本邮件可能含有保密信息。'],
    ['Avast, in Spanish', 'Sin virus. www.avast.com'],
    ['Avast, in Russian', 'Без вирусов. www.avast.com'],
    [
      'Avast as a table',
      '[image] (https://www.avast.com/sig-email) | Sin virus.www.avast.com (https://www.avast.com/sig-email)',
    ],
    ['a company that names its seat', 'Roe GmbH, Sitz Berlin, HRB 123, Geschäftsführer: J. Roe'],
    ['the environment, in French', "Pensez à la planète avant d'imprimer ce mail."],
    ['a registered office behind a name', 'Roe Ltd, registered in England and Wales, no. 123'],
    ['a privacy notice', 'Datenschutzhinweise: https://roe.example/datenschutz'],
  ])('%s', (_, below) => {
    expect(trimText(`New.\n\n${attribution}\n> Old.\n> More.\n\n${below}`)).toBe('New.');
  });

  test.each([
    ['an answer', 'Yes, that is confidential, please delete it.'],
    ['a wish that has to do with a list', 'Please take me off your mailing list.'],
    ['a number that was asked for', 'VAT number DE123456789'],
    ['a wish about paper', 'Save paper, send it as PDF.'],
    ['a label', 'Sitz: der linke ist defekt'],
    ['a sentence below dashes', '--\nThe number is SN-42.'],
    ['a word on viruses', 'I checked it with Norton for viruses.'],
    [
      'an answer above a footer',
      'Yes.\n\nThis email has been checked for viruses by Avast antivirus software.',
    ],
  ])('%s keeps everything', (_, below) => {
    const text = `New.\n\n${attribution}\n> Old.\n> More.\n\n${below}`;
    expect(trimText(text)).toBe(text);
  });
});

const MARKED = 'On 5 Jan 2026 at 10:00 X <x@y.example> wrote:\n> Which number?';

test.each([
  ['a footer below a greeting', 'Hi Acme,', 'Öffnungszeiten: Mo-Fr 9-17 Uhr'],
  ['what the text points to', 'Call the number below.', '--\nAnn Roe\n+49 30 1234567'],
])('%s is an answer below a quote', (_, above, below) => {
  const text = `${above}\n\n${MARKED}\n\n${below}`;
  expect(trimText(text)).toBe(text);
});

test.each([
  ['eM Client', '------ Original Message ------\nFrom "X" <x@y.example>\nSubject Re: Order'],
  ['Zoho', '---- On 5 Jan 2026 10:00 X <x@y.example> wrote ----'],
  ['Seznam', '---------- Původní e-mail ----------\nOd: X <x@y.example>\nKomu: a@b.example'],
])('an answer below a quote that is marked line by line below the title of %s', (_, title) => {
  const text = `New.\n\n${title}\n\n> Old?\n> More.`;
  expect(trimText(text)).toBe('New.');
  expect(trimText(`${text}\n\nYes.`)).toBe(`${text}\n\nYes.`);
});

describe('a line that was wrapped within a quote', () => {
  const line = '> This line of the quoted message was a bit too long for a program on its';
  const head = 'New.\n\nOn 5 Jan 2026 at 10:00 X <x@y.example> wrote:\n';

  test('belongs to the quote', () => {
    expect(trimText(`${head}${line}\nway here.\n> More.`)).toBe('New.');
    expect(trimText(`${head}${line}\nway here.\n${line}\nway.`)).toBe('New.');
  });

  test.each([
    ['a whole sentence above it', `${line.slice(0, -1)}.\nway here.\n> More.`],
    ['a short line above it', '> Which colour\nblue\n> More.'],
    ['an empty line before it', `${line}\n\nway here.\n> More.`],
    ['no end of a sentence in the quote', `${line}\nblue one`],
    ['another answer in the message', `${line}\nway here.\n> More.\n\nYes.`],
  ])('is an answer with %s', (_, quote) => {
    expect(trimText(`${head}${quote}`)).toBe(`${head}${quote}`);
  });
});
