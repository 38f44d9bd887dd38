import { describe, expect, test } from '@jest/globals';
import {
  HeaderCollector,
  MAX_HEADER_BYTES,
  parseHeaderBlock,
} from '../../../src/channels/email/header-block.ts';
import { withinProcessorTime } from '../../support/processor-time.ts';

const block = (text: string) => parseHeaderBlock(Buffer.from(text, 'latin1'));

describe('a header block', () => {
  test('keeps the values of a name in order and matches names without regard to case', () => {
    const head = block('Received: one\r\nSUBJECT: Hi\r\nreceived: two\r\n\r\nReceived: body\r\n');
    expect(head.all('Received')).toEqual(['one', 'two']);
    expect(head.first('subject')).toBe('Hi');
    expect(head.count('received')).toBe(2);
    expect(head.count('to')).toBe(0);
    expect(head.first('to')).toBeUndefined();
  });

  test.each([
    ['CRLF', 'A: 1\r\nB: 2\r\n\r\nC: 3\r\n', 16 - 2],
    ['bare LF', 'A: 1\nB: 2\n\nC: 3\n', 11],
    ['bare CR', 'A: 1\rB: 2\r\rC: 3\r', 11],
    ['CRCRLF', 'A: 1\r\r\nB: 2\r\r\n\r\r\nC: 3\r\r\n', 17],
    ['mixed CRLF and LF', 'A: 1\r\nB: 2\n\r\nC: 3\n', 13],
    ['a first line that ends in CR among others', 'A: 1\rB: 2\r\n\r\nC: 3\r\n', 12],
  ])('ends at the first empty line with %s', (_, text, length) => {
    const head = block(text);
    expect([head.first('a'), head.first('b'), head.first('c')]).toEqual(['1', '2', undefined]);
    expect(head.byteLength).toBe(length);
  });

  test('takes no field from a CR inside a value', () => {
    const head = block('From: a@b.c\r\nSubject: x\rFrom: evil@b.c\r\n\r\n');
    expect(head.all('from')).toEqual(['a@b.c']);
    expect(head.first('subject')).toBe('x From: evil@b.c');
  });

  test('unfolds continuation lines, also those of white space only', () => {
    const head = block('Subject: one\r\n two\r\n\tthree\r\n \r\n four\r\nTo: x\r\n\r\n');
    expect(head.first('subject')).toBe('one two\tthree  four');
    expect(head.first('to')).toBe('x');
  });

  test('passes over lines that are no field, and takes white space before the colon', () => {
    const head = block(
      'From sender Mon Jan\r\n : no name\r\nSubject : Hi\r\nno colon\r\n: x\r\nTo:\r\n',
    );
    expect(head.first('subject')).toBe('Hi');
    expect(head.first('to')).toBe('');
  });

  test('reads UTF-8 where it is valid and Latin-1 where it is not, field by field', () => {
    const bytes = Buffer.concat([
      Buffer.from('Subject: Grüße\r\n', 'utf8'),
      Buffer.from('From: Jörg <j@b.c>\r\n\r\n', 'latin1'),
    ]);
    const head = parseHeaderBlock(bytes);
    expect(head.first('subject')).toBe('Grüße');
    expect(head.first('from')).toBe('Jörg <j@b.c>');
  });

  test('may be empty, or end with the message', () => {
    expect(block('\r\nA: 1\r\n').byteLength).toBe(2);
    expect(block('').byteLength).toBe(0);
    expect(block('A: 1').first('a')).toBe('1');
  });

  test('stops at its limit', () => {
    const head = block(`A: 1\r\nTo: ${'a:'.repeat(MAX_HEADER_BYTES)}\r\nB: 2\r\n\r\n`);
    expect(head.truncated).toBe(true);
    expect(head.byteLength).toBe(MAX_HEADER_BYTES);
    expect(head.first('a')).toBe('1');
    expect(head.first('b')).toBeUndefined();
  });
});

describe('a header block that arrives in chunks', () => {
  const messages = [
    'A: 1\r\n folded\r\nB: 2\r\n\r\nbody\r\n\r\n',
    'A: 1\nB: 2\n\nbody\n',
    'A: 1\rB: 2\r\rbody\r',
    'A: 1\rB: 2\r\n\r\nbody\r\n',
    '\r\nbody',
    '\nbody',
    '\r\rbody',
    'A: 1\r\r\n\r\r\nbody',
    'A: 1\r\n',
  ];

  test.each(messages)('is the same however %j is split', (text) => {
    const whole = block(text);
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const collector = new HeaderCollector();
        const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        const taken = parts.reduce((sum, part) => sum + collector.push(Buffer.from(part)), 0);
        expect(taken).toBe(whole.byteLength);
        const head = collector.finish();
        expect([head.all('a'), head.all('b')]).toEqual([whole.all('a'), whole.all('b')]);
      }
    }
  });

  test.each([
    ['one byte each', 1, 'A: 1\r\n'],
    ['one byte each, bare CRs', 1, 'A: 1\r'],
    ['only CRs', 100, '\r'.repeat(50)],
    ['one endless line', 3, 'x'],
  ])('takes time in proportion to its size: %s', async (_, size, pattern) => {
    const bytes = Buffer.from(pattern.repeat(MAX_HEADER_BYTES));
    const collector = new HeaderCollector();
    await withinProcessorTime(2000, () => {
      for (let at = 0; at < bytes.length && !collector.complete; at += size) {
        collector.push(bytes.subarray(at, at + size));
      }
      collector.finish();
    });
  });

  test.each(['iso-2022-jp', 'shift_jis', 'nonsense'])(
    'reads thousands of fields in %s in proportion to their size',
    async (charset) => {
      const start = Buffer.from(
        `Subject: a\xe9\r\nContent-Type: text/plain; charset=${charset}\r\n`,
      );
      const fields = Buffer.alloc(
        MAX_HEADER_BYTES - start.length,
        Buffer.from('a:\xff\n', 'latin1'),
      );
      const bytes = Buffer.concat([start, fields]);
      await withinProcessorTime(2000, () => {
        expect(parseHeaderBlock(bytes).first('subject')).toBe('aé');
      });
    },
  );

  test.each(['\r', '\r\n', '\n', '\r\r\n', ' ', '\t\r', '\r\n '])(
    'unfolds a field of %j in proportion to its size',
    async (filler) => {
      const bytes = Buffer.from(`A: 1\r\nSubject: a${filler.repeat(MAX_HEADER_BYTES)}`);
      const field = Buffer.concat([bytes.subarray(0, MAX_HEADER_BYTES - 5), Buffer.from('b\r\n')]);
      await withinProcessorTime(2000, () => parseHeaderBlock(field).all('subject'));
    },
  );
});
