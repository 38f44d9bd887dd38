import { describe, expect, test } from '@jest/globals';
import { joinLines, textLines } from '../../../../src/channels/email/normalize/quotes/lines.ts';
import { trimQuotes } from '../../../../src/channels/email/normalize/quotes/trim-quotes.ts';

const trimText = (text: string) => joinLines(trimQuotes(textLines(text)).lines, 'TEXT');

describe('the marker of a forward, whatever the subject says', () => {
  test.each([
    '---------- Forwarded message ---------',
    'Forwarded message:',
    '> Begin forwarded message:',
    '============ Forwarded message ============',
    '----- Forwarded message from X <x@y.example> -----',
    '---------- Original Message ----------',
    '----- Weitergeleitet von X am 04.01.2026 -----',
    '-------- Message transféré --------',
    '----- Message transmis -----',
    'Début du message transféré\u00a0:',
    '-------- Mensaje reenviado --------',
    '-------- Messaggio Inoltrato --------',
    '-------- Mensagem reencaminhada --------',
    'Início da mensagem encaminhada:',
    '----- Mesaj redirecționat -----',
    '-------- Doorgestuurd bericht --------',
    '-------- Vidarebefordrat meddelande --------',
    'Start på videresendt besked:',
    '-------- Videresendt melding --------',
    'Välitetty viesti alkaa:',
    '----- Edelleenlähetetty viesti -----',
    '--- Treść przekazanej wiadomości ---',
    '---------- Wiadomość przesłana dalej ----------',
    '-------- Přeposlaná zpráva --------',
    '-------- Preposlaná správa --------',
    '-------- Proslijeđena poruka --------',
    '-------- Továbbított üzenet --------',
    '-------- İletilen İleti --------',
    'İleti başlangıcı:',
    '-------- Пересылаемое сообщение --------',
    'Початок листа, що пересилається:',
    '-------- Προωθημένο μήνυμα --------',
    '-------- הודעה שהועברה --------',
    '-------- رسالة معاد توجيهها --------',
    '---------- 転送メッセージ ----------',
    '-------- 转发邮件信息 --------',
    '開始轉寄郵件：',
    '전달된 메시지:',
  ])('%s', (marker) => {
    const quoted = marker.startsWith('>') ? '> ' : '';
    const header = `${quoted}From: X <x@y.example>\n${quoted}Date: Sunday 9:30\n${quoted}Subject: x`;
    const text = `Please look.\n\n${marker}\n${header}\n\n${quoted}Text.\n\n--\nX`;
    expect(trimText(text)).toBe(text);
  });

  test('in the answered message does not make the answer a forward', () => {
    const text = `New.\n\nOn 5 Jan 2026 at 10:00 X <x@y.example> wrote:\n> Begin forwarded message:\n>\n> Old.`;
    expect(trimText(text)).toBe('New.');
  });

  test('a title in an unknown language keeps the message below it', () => {
    const text =
      'Look.\n\n----- Zurpa melido -----\nFrom: X <x@y.example>\nTo: A\nSubject: x\n\nText.';
    expect(trimText(text)).toBe(text);
  });
});
