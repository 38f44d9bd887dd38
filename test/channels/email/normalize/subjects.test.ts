import { describe, expect, test } from '@jest/globals';
import {
  isAutoReplySubject,
  isBounceSubject,
} from '../../../../src/channels/email/normalize/head/subjects.ts';
import { withinProcessorTime } from '../../../support/processor-time.ts';

describe('the subject of an out-of-office answer', () => {
  test.each([
    ['English', 'Automatic reply: Your order'],
    ['English, of other systems', 'Out of Office: Your order'],
    ['German', 'Automatische Antwort: Ihre Bestellung'],
    ['German, older', 'Abwesenheitsnotiz: Ihre Bestellung'],
    ['French', 'Réponse automatique : Votre commande'],
    ['French, decomposed', 'Re\u0301ponse automatique : Votre commande'],
    ['Spanish', 'Respuesta automática: Su pedido'],
    ['Italian', 'Risposta automatica: Ordine'],
    ['Portuguese', 'Resposta automática: Pedido'],
    ['Catalan', 'Resposta automàtica: Comanda'],
    ['Dutch', 'Automatisch antwoord: Bestelling'],
    ['Swedish', 'Autosvar: Beställning'],
    ['Danish', 'Automatisk svar: Bestilling'],
    ['Norwegian', 'Fraværsmelding: Bestilling'],
    ['Finnish', 'Automaattinen vastaus: Tilaus'],
    ['Polish', 'Odpowiedź automatyczna: Zamówienie'],
    ['Czech', 'Automatická odpověď: Objednávka'],
    ['Slovak', 'Automatická odpoveď: Objednávka'],
    ['Hungarian', 'Automatikus válasz: Rendelés'],
    ['Romanian', 'Răspuns automat: Comandă'],
    ['Greek', 'Αυτόματη απάντηση: Παραγγελία'],
    ['Russian', 'Автоматический ответ: Заказ'],
    ['Ukrainian', 'Автоматична відповідь: Замовлення'],
    ['Turkish', 'Otomatik Yanıt: Sipariş'],
    ['Hebrew', 'תשובה אוטומטית: הזמנה'],
    ['Arabic', 'رد تلقائي: طلب'],
    ['Japanese', '自動返信：ご注文'],
    ['Chinese', '自动回复: 订单'],
    ['Chinese, traditional', '自動回覆：訂單'],
    ['Korean', '자동 회신: 주문'],
    ['behind the tag of a gateway', '[EXTERNAL] Automatic reply: Your order'],
  ])('%s', (_, subject) => {
    expect(isAutoReplySubject(subject)).toBe(true);
  });

  test.each([
    'Re: Automatic reply: Your order',
    'Your order: automatic reply?',
    'Abwesendes Paket',
    'Autoreplying to my order',
    '',
  ])('not %j', (subject) => {
    expect(isAutoReplySubject(subject)).toBe(false);
  });
});

test.each([
  'Undelivered Mail Returned to Sender',
  'Delivery Status Notification (Failure)',
  'Undeliverable: Your order',
  '[EXTERN] Mail delivery failed: returning message to sender',
  'Unzustellbar: Ihre Bestellung',
  'Non remis : Votre commande',
  '退信：订单',
])('the subject of a bounce: %s', (subject) => {
  expect(isBounceSubject(subject)).toBe(true);
});

test('a subject of any length is looked at in no time', async () => {
  await withinProcessorTime(1000, () => {
    for (const unit of ['[', '*a*', '***', '[a]', ' ', 'automatic ']) {
      isAutoReplySubject(unit.repeat(300_000));
      isBounceSubject(unit.repeat(300_000));
    }
  });
});
