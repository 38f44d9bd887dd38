import { describe, expect, test } from '@jest/globals';
import { Emitter } from '../../../src/widget/slim/emitter.ts';
import { Decoder, Encoder, type Packet } from '../../../src/widget/slim/events.ts';
import { decode, encode } from '../../../src/widget/slim/query.ts';
import { url } from '../../../src/widget/slim/url.ts';
import { decodePacket, decodePayload, encodePayload } from '../../../src/widget/slim/packets.ts';

describe('Engine.IO packets', () => {
  test('are written as the protocol has them, and read back', () => {
    let written = '';
    encodePayload(
      [
        { type: 'ping', data: 'probe' },
        { type: 'message', data: '2["a"]' },
      ],
      (text) => {
        written = text;
      },
    );
    expect(written).toBe('2probe\u001e42["a"]');
    expect(decodePayload(written)).toEqual([
      { type: 'ping', data: 'probe' },
      { type: 'message', data: '2["a"]' },
    ]);
  });

  test('without data have none', () => {
    expect(decodePacket('3')).toEqual({ type: 'pong' });
  });

  test.each(['', '7', 'x', new ArrayBuffer(1)])('%p is none', (encoded) => {
    expect(decodePacket(encoded).type).toBe('error');
  });
});

describe('addresses', () => {
  test('are taken apart by the browser’s own parser', () => {
    const address = url('https://[::1]:8443');
    expect(address).toMatchObject({ protocol: 'https', host: '::1', port: '8443', path: '/' });
    expect(address).toMatchObject({ source: 'https://[::1]:8443', id: 'https://[::1]:8443' });
  });

  test('have a query that is read as it was written', () => {
    const query = { EIO: '4', transport: 'polling', sid: 'a b&c=d/ü' };
    expect(decode(encode(query))).toEqual(query);
  });
});

describe('Socket.IO packets', () => {
  const read = (encoded: unknown): Packet[] => {
    const packets: Packet[] = [];
    const decoder = new Decoder();
    decoder.on('decoded', (packet) => packets.push(packet));
    decoder.add(encoded);
    return packets;
  };

  test.each([
    ['0{"key":"demo"}', { type: 0, nsp: '/', data: { key: 'demo' } }],
    ['1', { type: 1, nsp: '/', data: undefined }],
    ['2["message",{"text":"a,b"}]', { type: 2, nsp: '/', data: ['message', { text: 'a,b' }] }],
    ['212["seen",1]', { type: 2, nsp: '/', id: 12, data: ['seen', 1] }],
    ['37[{"ok":true}]', { type: 3, nsp: '/', id: 7, data: [{ ok: true }] }],
    ['4{"message":"no"}', { type: 4, nsp: '/', data: { message: 'no' } }],
    ['2/room,["a"]', { type: 2, nsp: '/room', data: ['a'] }],
  ])('%s', (encoded, packet) => {
    expect(read(encoded)).toEqual([packet]);
    expect(new Encoder().encode(packet)).toEqual([encoded]);
  });

  test.each([
    '',
    'x',
    '2',
    '2{}',
    '2["connect"]',
    '2[1',
    '3{}',
    '1{}',
    '51-["a"]',
    new ArrayBuffer(1),
  ])('%p is none', (encoded) => {
    expect(() => read(encoded)).toThrow();
  });
});

describe('the emitter', () => {
  test('tells each listener, once where it asked for that, and nobody who has left', () => {
    const told: string[] = [];
    const emitter = new Emitter();
    const left = (): void => void told.push('left');
    const once = (): void => void told.push('once');
    const never = (): void => void told.push('never');
    emitter.on('a', () => void told.push('on'));
    emitter.once('a', once);
    emitter.on('a', left);
    emitter.off('a', left);
    emitter.once('a', never);
    emitter.off('a', never);
    emitter.emit('a').emit('a');
    expect(told).toEqual(['on', 'once', 'on']);
    expect(emitter.hasListeners('a')).toBe(true);
    emitter.off();
    expect(emitter.hasListeners('a')).toBe(false);
  });
});
