import type { Desk } from './desk.ts';

/** What most tests look at; what is there already is taken as the same once more. */
export async function stock(desk: Desk): Promise<void> {
  await desk.mail(
    ...Array.from({ length: 60 }, (_, n) => ({ id: `many-${n}`, subject: `Parcel number ${n}` })),
  );
  await desk.sms('stock', { From: '+15550107711', Body: 'Hello' });
  await desk.mail({
    id: 'to-be-found',
    subject: 'Umbrella in grass green',
    from: 'Zoe Quill <zoe.quill@far.example>',
  });
}
