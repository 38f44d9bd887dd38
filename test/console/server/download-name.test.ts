import { expect, test } from '@jest/globals';
import { attachmentDisposition } from '../../../src/console/server/content-routes.ts';

test.each([
  ['order.pdf', 'attachment; filename=order.pdf'],
  ['', 'attachment'],
  ['../../etc/passwd', 'attachment; filename=.._.._etc_passwd'],
  ['C:\\x.exe', 'attachment; filename="C:_x.exe"'],
  ['a\r\nSet-Cookie: b', 'attachment; filename="a__Set-Cookie: b"'],
  ['bill\u202efdp.exe', 'attachment; filename=bill_fdp.exe'],
  ['half \ud800', 'attachment; filename="half _"'],
])('%j', (name, header) => {
  expect(attachmentDisposition(name)).toBe(header);
});

test('a long name keeps its end, and the header stays short', () => {
  expect(attachmentDisposition(`${'🙂'.repeat(5000)}.pdf`)).toMatch(/\.pdf$/);
  expect(attachmentDisposition(`${'🙂'.repeat(5000)}.pdf`).length).toBeLessThan(1500);
});
