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
  ])('%s', (_, below) => {
    expect(trimText(`New.\n\n${attribution}\n> Old.\n> More.\n\n${below}`)).toBe('New.');
  });

  test.each([
    ['an answer', 'Yes, that is confidential, please delete it.'],
    ['a wish that has to do with a list', 'Please take me off your mailing list.'],
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
