import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { barLine } from '../../../src/cli/progress.ts';
import type { MediaRecord } from '../../../src/platform-api/resources.ts';
import { runOn, setting, type Setting } from './harness.ts';

let it: Setting;
let text: string;
let picture: string;
/** As much of a PNG as is looked at. */
const PNG = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
  'hex',
);

beforeEach(async () => {
  it = await setting();
  text = join(it.dir, 'notes.txt');
  picture = join(it.dir, 'lamp \u202egnp.png');
  writeFileSync(text, 'hello');
  writeFileSync(picture, PNG);
});

describe('media upload', () => {
  test('prints the ids and links; the files are there', async () => {
    const { code, stdout } = await it.run('media', 'upload', text, picture);
    expect(code).toBe(0);
    const found = [...stdout.matchAll(/^([0-9a-f-]{36}) {2}(.+) {2}(\S+)\n {2}(http\S+)$/gm)];
    expect(found.map(([, , name, type]) => [name, type])).toEqual([
      ['notes.txt', 'text/plain'],
      ['lamp \ufffdgnp.png', 'image/png'],
    ]);
    expect(await (await fetch(found[0]?.[4] ?? '')).text()).toBe('hello');
  });

  test('--json is an array of media records; private unless --public is given', async () => {
    const closed = await it.run('media', 'upload', text, '--json');
    expect(JSON.parse(closed.stdout)).toMatchObject([
      { type: 'text/plain', original_name: 'notes.txt', permission: 'private' },
    ]);
    const open = await it.run('media', 'upload', text, '--json', '--public');
    expect(JSON.parse(open.stdout)).toMatchObject([{ permission: 'public' }]);
  });

  test('an empty file', async () => {
    const empty = join(it.dir, 'empty.bin');
    writeFileSync(empty, '');
    const { stdout } = await it.run('media', 'upload', empty, '--json');
    const [record] = JSON.parse(stdout) as MediaRecord[];
    expect(await (await fetch(record?.url ?? '')).text()).toBe('');
  });

  test.each([
    ['is not there', () => join(it.dir, 'none.txt'), /none\.txt cannot be read/],
    ['is a folder', () => it.dir, /is not a file/],
  ])('a file that %s is refused before anything is sent', async (_what, path, message) => {
    const { code, stdout, stderr } = await it.run('media', 'upload', text, path(), '--json');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('the bar is drawn for a person, and taken away', async () => {
    const { stderr } = await runOn(it.file, ['media', 'upload', text], { canDrawOver: true });
    expect(stderr).toContain('notes.txt [########################] 100 %  0.0 MB of 0.0 MB');
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
    expect((await it.run('media', 'upload', text)).stderr).toBe('');
  });

  test('no bar is drawn for an empty file', async () => {
    writeFileSync(text, '');
    const { code, stderr } = await runOn(it.file, ['media', 'upload', text], { canDrawOver: true });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

test.each([
  [0, '', 0, 'lamp.jpg [------------------------]   0 %'],
  [15e6, '15 of 30', 2, 'lamp.jpg [############------------]  50 %  15 of 30  7.5 MB/s  2s left'],
  [31e6, '31 of 30', 2, 'lamp.jpg [########################] 100 %  31 of 30  15.5 MB/s  0s left'],
])('%d of 30 MB, with the note "%s", after %d s', (done, note, seconds, line) => {
  const work = { name: 'lamp.jpg', total: 30e6, unit: 'bytes' } as const;
  expect(barLine(work, done, note, seconds)).toBe(line);
});
