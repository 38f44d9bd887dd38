import { expect, test } from '@jest/globals';
import { csvLine } from '../../../src/console/server/csv.ts';

test.each([
  [['a', 'b c', ''], 'a,b c,'],
  [['say "hi"', 'a,b', 'two\nlines'], '"say ""hi""","a,b","two\nlines"'],
  [['=1+1', '+1', '-1', '@x', '\tx', '\r'], "'=1+1,'+1,'-1,'@x,'\tx,\"'\r\""],
  [['a=1', '1-1', "'=1"], "a=1,1-1,'=1"],
])('%j is the line %j', (values, line) => {
  expect(csvLine(values)).toBe(`${line}\r\n`);
});
