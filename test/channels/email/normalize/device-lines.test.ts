import { describe, expect, test } from '@jest/globals';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';

const trimText = (text: string) => joinLines(trimQuotes(textLines(text)).lines, 'TEXT');

describe('a line that a telephone or a program appends', () => {
  const withLine = (line: string) =>
    trimText(`New text.\n\n${line}\n\nOn 5 Jan 2026 X <x@y.example> wrote:\n> Old text.\n> More.`);

  test.each([
    'Sent from my iPod',
    'Sent from Mailbox',
    '\u2014\nSent from Mailbox for iPad',
    'Sent from TypeApp<http://www.typeapp.com/r?b=1>',
    'Sent from Mail for Windows 10',
    '(sent from a Samsung Galaxy)',
    '[Sent from my BlackBerry]',
    'From My Iphone 6',
    'Sent from my Windows 8 PC <https://x.example/consumer>',
    'Sent from my T-Mobile 4G LTE Device',
    'Sent via the Samsung Galaxy S21 5G, an AT&T 5G smartphone',
    'Sent from Spark',
    'Sent from my moto g power',
    'Secured by Tuta Mail',
    "Android için Outlook'u edinin",
    '來自我的 iPhone',
    '네이버 메일앱에서 보냈습니다',
    'Wysłano z aplikacji mobilnej Onet Poczta',
    'Sent via Superhuman ( https://sprh.mn/?vip=x@y.example )',
    'Sent from Canary (https://canarymail.io)',
    'Get BlueMail for Android<https://bluemail.me>',
    'Sent from my Android device with K-9 Mail. Please excuse my brevity.',
    'Sent with Aqua Mail for Android\nhttps://www.mobisystems.com/aqua-mail',
    "Sent from Ann's iPad",
    'Verzonden met BlackBerry',
    'Verzonden vanuit Mail voor Windows',
    'Von Samsung-Tablet gesendet',
    'Gesendet mit der GMX Mail App',
    'Envoyé à partir de Courrier pour Windows',
    'Envoyé avec la messagerie sécurisée Proton Mail.',
    'Enviado desde mi smartphone HUAWEI P30 lite',
    'Inviato da Libero Mail per Android',
    'Enviado do Correio para Windows',
    'Skickat från E-post för Windows',
    'Sendt fra min Galaxy',
    'Lähetetty iPhonesta',
    "Wysłane z iPhone'a",
    'Odoslané z iPhonu',
    'Poslano sa Samsung Galaxy pametnog telefona',
    'Poslano iz mojega iPhona',
    'iPhone-omról küldve',
    'Отправлено из Почты Mail.ru для Android',
    'Надіслано з мого iPhone',
    'Изпратено от моя iPhone',
    'Išsiųsta iš Samsung Galaxy',
    'Saadetud iPhoneist',
    'أُرسلت من الـ iPhone',
    'ارسال از iPhone من',
    'נשלח מה-iPhone שלי',
    'मेरे iPhone से भेजा गया',
    '从我的 iPhone 发送',
    '發自我的 iPhone',
    '나의 iPhone에서 보냄',
    'Xperiaから送信',
    // Models that no table has.
    'Sent from my Xelphone Five',
    'Sent from my Xelphone GX6',
    'Sent from my Nokia 3310',
    'Gesendet von meinem Xelphone GX6',
    'Von meinem Xelphone Phone gesendet',
    'Envoyé depuis mon Xelphone Action X5',
    'Inviato dal mio Xelphone Amico',
    'Отправлено с моего Xelphone Impress Bear',
  ])('goes: %s', (line) => {
    expect(withLine(line)).toBe('New text.');
  });

  test.each([
    'Sent from my Visa Card',
    'Sent from my New York Hotel',
    'Sent from my iPhone, which is why I cannot open the file.',
    'Sent from my phone number 555 0100 was a text too.',
    'Sent from the warehouse on Monday',
    'Sent by mail',
    'Sent from my iPhone?',
    'Sent via DHL Express',
    'Von meinem Konto ging das Geld ab',
    'Gesendet von meinem Mann',
    'Enviado por correo',
    'Envoyé de Lyon par la poste',
    'Get Outlook to work',
    'Model: iPhone 15 Pro',
    'iPhone',
  ])('stays: %s', (line) => {
    expect(withLine(line)).toBe(`New text.\n\n${line}`);
  });

  test('stays where it does not stand alone at the end', () => {
    expect(trimText('New text.\nSent from my iPhone')).toBe('New text.\nSent from my iPhone');
    const before = 'Sent from my iPhone\n\nNew text.';
    expect(trimText(before)).toBe(before);
  });
});
