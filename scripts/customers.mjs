// What customers of made-up shops write, for the pictures of the console: sent through the gateway's
// own doors.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import nodemailer from 'nodemailer';
import { io } from 'socket.io-client';

/** A few people write all the time here. */
const NO_FLOOD = { per10min: 1_000, perHour: 1_000, sameBodyPerHour: 1_000 };
const NO_LOOP = { ...NO_FLOOD, perThreadPer10min: 1_000 };

/** The same each time. */
export const SHOP = {
  name: 'northwind',
  shopId: '5a1d6a52-6c1c-4a52-9d0e-0f2f8b1f6a10',
  apiKey: 'key-of-northwind',
  email: {
    addresses: ['support@northwind.example', 'orders@northwind.example'],
    loop: NO_LOOP,
  },
  sms: {
    numbers: ['+12025550142'],
    loop: { ...NO_FLOOD, perDay: 1_000 },
    twilio: {
      accountSid: `AC${'5e'.repeat(16)}`,
      authTokens: ['token-of-northwind'],
      // What came while the gateway was down is looked for there: nobody.
      baseUrl: 'http://127.0.0.1:9',
    },
  },
  chat: {
    key: 'northwind',
    origins: ['https://www.northwind.example'],
    allowNoOrigin: true,
    limits: { newVisitorsPerHourPerIp: 100_000, messagesPer10s: 1_000 },
  },
};

/** Its second shop. */
export const OUTLET = {
  name: 'northwind-outlet',
  shopId: '6b2e7c63-7d2d-4b63-8e1f-1a3f9c2a7b21',
  apiKey: 'key-of-the-outlet',
  email: { addresses: ['outlet@northwind.example'], loop: NO_LOOP },
};

const PEOPLE = [
  ['Carla Mendes', 'carla.mendes@fastmail.example'],
  ['Jonas Weber', 'j.weber@posteo.example'],
  ['Aiko Tanaka', 'aiko@tanaka.example'],
  ['Priya Nair', 'priya.nair@gmail.example'],
  ['Tom Okafor', 'tom@okafor-studio.example'],
  ['Élodie Martin', 'elodie.martin@orange.example'],
  ['Sam Whitfield', 'sam.whitfield@outlook.example'],
  ['Noor Haddad', 'noor.haddad@proton.example'],
];

const MAILS = [
  [
    'Where is my order #48211?',
    'It was due on Tuesday, and the tracking page has not moved since.',
  ],
  ['Two lamps, one shade missing', 'The parcel came today, but there was only one shade in it.'],
  ['Invoice for our company', 'Could you put our VAT number on the invoice of last week?'],
  ['Can I change the delivery address?', 'I am moving on Friday; please send it to the new flat.'],
  ['Return of the oak desk', 'It is a beautiful desk, but 3 cm too wide for the room.'],
  ['Re: Your order has shipped', 'Thank you! Is there a way to have it in the evening?'],
  ['Warranty on the floor lamp', 'The switch stopped working after four months.'],
  ['Do you ship to Norway?', 'We would like six chairs, delivered to Bergen.'],
  ['Wrong colour delivered', 'I ordered forest green and this is nearly black.'],
];

const LINES = [
  'Hi! Is the walnut shelf back in stock?',
  'Which bulbs fit the Aurora lamp?',
  'My discount code does not work',
  'Can I pick the order up myself?',
  'How long do refunds take?',
  'Is it possible to pay by invoice?',
];

const TEXTS = [
  'Running late, can the driver come after 6?',
  'Is my parcel 48217 out for delivery today?',
  'Please call me about the chair',
  'Got it, thank you!',
];

/** Its first bytes tell that it is a JPEG. */
const photo = () =>
  Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100', 'hex'), randomBytes(48_000)]);

const pick = (from, nth) => from[nth % from.length];

/** The ways in to one gateway: `email(nth)`, `text(nth)`, `chat(nth)`, and emails of other kinds. */
export class Customers {
  #doors;
  #post;

  /** @param doors the ports of `smtp` and `http`, and `publicUrl` as it is configured */
  constructor(doors) {
    this.#doors = doors;
    this.#post = nodemailer.createTransport({
      host: '127.0.0.1',
      port: doors.smtp,
      pool: true,
      maxConnections: 2,
      tls: { rejectUnauthorized: false },
    });
  }

  close() {
    this.#post.close();
  }

  async email(nth) {
    const [name, address] = pick(PEOPLE, nth * 5 + Math.floor(nth / 8));
    const [subject, text] = pick(MAILS, nth);
    const to = nth % 4 === 1 ? OUTLET.email.addresses[0] : SHOP.email.addresses[nth % 2];
    const signed = `${text}\n\nKind regards\n${name}`;
    await this.send({ from: { name, address }, to, subject, text: signed });
  }

  /** With an attachment, and the shop's own mail quoted below. */
  async reply() {
    await this.send({
      from: { name: 'Carla Mendes', address: 'carla.mendes@fastmail.example' },
      subject: 'Re: Your order #48211 has shipped',
      inReplyTo: '<48211.shipped@northwind.example>',
      text: 'Hello,\n\nthe box came today, but the glass is broken: see the photo.\nCould you send another one?\n\nCarla\n\nOn Mon, 16 Nov 2026 at 09:12, Northwind <support@northwind.example> wrote:\n> Your order is on its way.\n> It should arrive within three days.',
      html: '<p>Hello,</p><p>the box came today, but <b>the glass is broken</b>: see the photo.<br>Could you send another one?</p><p>Carla</p><blockquote>Your order is on its way.</blockquote>',
      attachments: [{ filename: 'broken-glass.jpg', content: photo(), contentType: 'image/jpeg' }],
    });
  }

  async absence() {
    await this.send({
      from: { name: 'Jonas Weber', address: 'j.weber@posteo.example' },
      subject: 'Out of office until Monday',
      text: 'I am back on Monday.',
      headers: { 'Auto-Submitted': 'auto-replied' },
    });
  }

  async twoAuthors() {
    await this.send({
      from: 'Aiko Tanaka <aiko@tanaka.example>, Ken Tanaka <ken@tanaka.example>',
      sender: 'aiko@tanaka.example',
      envelope: { from: 'aiko@tanaka.example', to: SHOP.email.addresses[0] },
      subject: 'Our wedding list',
      text: 'Could you tell us what has been bought so far?',
    });
  }

  async send(mail) {
    await this.#post.sendMail({ to: SHOP.email.addresses[0], ...mail });
  }

  /** Signed as Twilio signs: the URL and each parameter, sorted (its "Webhooks security" page). */
  async text(nth) {
    const { http, publicUrl } = this.#doors;
    const { accountSid, authTokens } = SHOP.sms.twilio;
    const params = {
      MessageSid: `SM${randomBytes(16).toString('hex')}`,
      AccountSid: accountSid,
      From: `+1202555${String(100 + ((nth * 7) % 90)).padStart(4, '0')}`,
      To: SHOP.sms.numbers[0],
      Body: pick(TEXTS, nth),
      NumMedia: '0',
    };
    const signed = Object.keys(params)
      .sort()
      .map((name) => name + params[name]);
    const answer = await fetch(`http://127.0.0.1:${http}/sms/twilio`, {
      method: 'POST',
      headers: {
        'x-twilio-signature': createHmac('sha1', authTokens[0])
          .update(`${publicUrl}/sms/twilio${signed.join('')}`)
          .digest('base64'),
      },
      body: new URLSearchParams(params),
    });
    if (!answer.ok) throw new Error(`the SMS webhook answered ${answer.status}`);
  }

  async chat(nth) {
    const socket = io(`http://127.0.0.1:${this.#doors.http}`, {
      path: '/chat',
      auth: { key: SHOP.chat.key },
      transports: ['websocket'],
      forceNew: true,
    });
    try {
      await new Promise((resolve, reject) => {
        socket.once('session', resolve);
        socket.once('connect_error', reject);
      });
      const [name, email] = pick(PEOPLE, nth + 3);
      if (nth % 3 !== 0) await socket.timeout(10_000).emitWithAck('profile', { name, email });
      const message = { id: randomUUID(), text: pick(LINES, nth) };
      const answer = await socket.timeout(10_000).emitWithAck('message', message);
      if (!answer.ok) throw new Error(`the chat answered ${answer.error}`);
    } finally {
      socket.disconnect();
    }
  }
}
