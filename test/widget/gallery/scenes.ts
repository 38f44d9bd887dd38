import type { Line, PendingFile } from '../../../src/widget/engine/chat.ts';
import type { Scene } from './fake-chat.ts';
import { drawnPicture } from './drawn-picture.ts';

/** A quarter past two, today: pictures of the same widget are the same picture. */
const NOW = new Date().setHours(14, 15, 0, 0);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let seq = 0;
const line = (
  from: Line['from'],
  text: string,
  minutesAgo: number,
  more: Partial<Line> = {},
): Line => ({
  id: `line-${(seq += 1)}`,
  seq,
  from,
  text,
  format: from === 'agent' ? 'MARKDOWN' : 'TEXT',
  files: [],
  at: NOW - minutesAgo * MINUTE,
  state: 'delivered',
  ...more,
});
const visitor = (text: string, minutesAgo: number, more?: Partial<Line>): Line =>
  line('visitor', text, minutesAgo, more);
const MIA = { name: 'Mia', kind: 'ai' } as const;
const TOM = { name: 'Tom Baker', kind: 'person' } as const;
const agent = (text: string, minutesAgo: number, more?: Partial<Line>): Line =>
  line('agent', text, minutesAgo, { author: MIA, ...more });
/** In the outbox: not numbered yet. */
const waiting = (text: string, more: Partial<Line>): Line => {
  const { seq: _, ...unnumbered } = visitor(text, 0, more);
  return unnumbered;
};

const pending = (name: string, type: string, more: Partial<PendingFile>): PendingFile => ({
  key: name,
  name,
  type,
  size: 2_480_000,
  state: 'uploaded',
  progress: 1,
  blob: new Blob([name], { type }),
  ...more,
});

const TALK: readonly Line[] = [
  visitor('Hi! My order 48213 says delivered, but nothing has arrived.', 1_450),
  agent(
    'Sorry about that. The carrier scanned it at **a neighbour’s address**, no. 14. Could you check with them first?',
    1_447,
  ),
  visitor('Just did', 1_440),
  visitor('They have it, thank you!', 1_440),
  visitor('One more thing: can I return one of the two lamps?', 6),
  agent(
    'Of course. You have until **12 December**, and the return is free.\n\n1. Open [your orders](https://shop.example/orders)\n2. Choose *Return an item*\n3. Print the label, or show the code at the counter',
    4,
  ),
  agent('Shall I send the label to the address we have on file?', 4),
  visitor('Yes please 🙏', 2),
];

const RICH: readonly Line[] = [
  visitor(
    'How do I call the orders endpoint? I read https://docs.shop.example/api/v2/orders/list?cursor=eyJpZCI6MTIzNDU2Nzg5MH0 but get 401.',
    9,
  ),
  agent(
    '## Authentication\nSend the key as a **bearer token**; `GET /v2/orders` then answers at most 100 a page:\n\n```\ncurl -s "https://api.shop.example/v2/orders?limit=100&status=open" \\\n  -H "Authorization: Bearer $SHOP_KEY"\n```\n\nSome notes:\n- Keys are shown *once*, when they are made\n- ~~v1 keys~~ no longer work\n  - ask for a new one at api@shop.example\n- Limits: 60 calls a minute\n\n> A 401 with `key_revoked` means that a colleague has replaced it.',
    8,
  ),
  visitor(
    'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung is the longest word I could find, and this is a message that goes on for a few lines so that one sees how a longer text of mine wraps in its bubble.',
    1,
  ),
];

const many = (): Line[] =>
  Array.from({ length: 60 }, (_, i) =>
    i % 3 === 0
      ? visitor(`Question ${i}: and what about this one?`, 4_400 - i * 70)
      : agent(
          `Answer ${i}, which takes a moment to read and so fills a line or two.`,
          4_399 - i * 70,
        ),
  );

/** What each picture shows, by name. */
export async function sceneOf(name: string): Promise<Scene> {
  const photo = await drawnPicture('lake');
  const square = await drawnPicture('lamp');
  switch (name) {
    case 'unread':
    case 'conversation':
      return name === 'unread'
        ? { lines: TALK.slice(0, 7), unread: 2 }
        : { lines: TALK, breaks: [4] };
    case 'people':
      return {
        lines: [
          visitor('Can I return one of the two lamps?', 9),
          agent('You have until **14 December**, and the return is free.', 8, { rev: 1 }),
          agent('A colleague takes over now.', 8),
          agent('Hi, Tom here. Shall I send the label to your address?', 3, { author: TOM }),
          visitor('Yes please 🙏', 2),
        ],
      };
    case 'choices':
      return {
        lines: [
          visitor('How long does delivery take?', 2),
          agent(
            'Delivery takes 1 to 2 working days within the country.\n\nDoes that answer your question?',
            1,
            {
              choices: [
                { id: 'yes', text: 'Yes' },
                { id: 'no', text: 'No' },
                { id: 'person', text: 'Talk to a person' },
              ],
            },
          ),
        ],
      };
    case 'seen':
      return {
        lines: [
          visitor('Can I speak to a person?', 4),
          agent('Of course. A colleague will be with you in a moment.', 3),
          visitor('Thank you. The switch of my lamp is broken.', 2, { state: 'seen' }),
        ],
      };
    case 'wide':
      return {
        lines: [
          visitor('👍', 9),
          agent('🎉🎁', 8),
          agent(
            'These sizes are left:\n\n| Size | Colour | Width | In stock | Delivery | Price |\n|---|---|---|---|---|---|\n| 42 | Night blue | Regular | 3 | Tomorrow | 129 € |\n| 43 | Sand | Wide | 11 | Monday | 129 € |',
            7,
          ),
          agent('<p> </p>', 6, { format: 'HTML' }),
          agent('```\ncurl -s "https://api.shop.example/v2/orders?limit=100&status=open"\n```', 5),
        ],
      };
    case 'rich':
      return { lines: RICH };
    case 'pictures':
      return {
        lines: [
          visitor('This is how it came out of the box:', 12, {
            files: [
              { id: 'photo', name: 'lamp-in-the-box.jpg', type: 'image/png', size: 1_830_000 },
            ],
          }),
          visitor('', 11, {
            files: [
              { id: 'square', name: 'front.png', type: 'image/png', size: 830_000 },
              { id: 'photo', name: 'back.png', type: 'image/png', size: 930_000 },
              {
                id: 'pdf',
                name: 'invoice-2026-11-48213-final.pdf',
                type: 'application/pdf',
                size: 84_200,
              },
            ],
          }),
          agent('Thank you. Here is the return label.', 8, {
            files: [
              {
                name: 'Return label RMA-48213-DE with a rather long name.pdf',
                type: 'application/pdf',
                size: 213_000,
                url: 'https://shop.example/label.pdf',
              },
            ],
          }),
        ],
        blobs: { photo, square },
      };
    case 'uploading':
      return {
        lines: TALK.slice(4),
        draft: 'Here are the pictures and the invoice',
        files: [
          pending('lamp-in-the-box.jpg', 'image/png', { blob: photo }),
          pending('front-of-the-lamp-with-crack.mov', 'video/quicktime', {
            state: 'uploading',
            progress: 0.62,
            size: 18_400_000,
          }),
          pending('invoice.svg', 'image/svg+xml', { state: 'failed', error: 'unsupported' }),
        ],
      };
    case 'queued':
      return {
        connection: { state: 'offline' },
        lines: [
          ...TALK.slice(4),
          waiting('Are you still there?', { state: 'queued' }),
          waiting('I will be at home all day', { state: 'queued' }),
        ],
      };
    case 'failed':
      return {
        lines: [
          ...TALK.slice(4, 7),
          waiting('Yes please, to my office', { state: 'failed' }),
          waiting('And one more question', {
            state: 'queued',
            error: 'rate_limited',
            retryAt: Date.now() + 8_000,
          }),
        ],
        draft: 'long '.repeat(1_610),
      };
    case 'busy':
      return {
        connection: { state: 'refused', code: 'busy', retryAt: Date.now() + 21_000 },
        lines: TALK.slice(4),
      };
    case 'refused':
      return { connection: { state: 'refused', code: 'unknown_key' }, session: null };
    case 'many':
      return { lines: many(), older: 'some' };
    case 'verified':
      return { lines: TALK, session: { verified: true, name: 'Ada Lovelace' }, breaks: [4, 8] };
    case 'arabic-unread':
      return {
        lines: [
          visitor('مرحبًا، لم تصل الطلبية رقم 48213 بعد.', 4),
          agent('نأسف لذلك. شركة الشحن سلّمتها إلى الجيران.', 3),
        ],
        unread: 1,
      };
    case 'arabic':
      return {
        lines: [
          visitor('مرحبًا، لم تصل الطلبية رقم 48213 بعد.', 1_450),
          agent(
            'نأسف لذلك. **شركة الشحن** سلّمتها إلى الجيران. تفاصيل: [طلباتك](https://shop.example)',
            1_449,
          ),
          visitor('شكرًا! And what about order 48214?', 6),
          waiting('هل يمكنني إرجاع مصباح واحد؟', { state: 'failed' }),
        ],
        session: { verified: true, name: 'ليلى' },
      };
    case 'yesterday':
      return { lines: TALK.slice(0, 4).map((each) => ({ ...each, at: each.at - 3 * DAY })) };
    default:
      return {};
  }
}
