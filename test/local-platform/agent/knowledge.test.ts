import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { answersTo } from '../../../src/local-platform/agent/builtin-agent.ts';
import { Knowledge } from '../../../src/local-platform/agent/knowledge.ts';
import { sectionsOf } from '../../../src/local-platform/agent/sections.ts';
import { KnowledgeFolder } from '../../../src/local-platform/agent/knowledge-folder.ts';
import { type Logger, silentLogger } from '../../../src/observability/logger.ts';
import { threadTimes } from '../../support/thread-times.ts';
import { newFolder } from '../harness.ts';

function folderWith(files: Readonly<Record<string, string | Buffer>>) {
  const path = newFolder();
  const warnings: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (event, fields) => warnings.push([event, fields]),
  };
  const write = (name: string, content: string | Buffer) =>
    writeFileSync(join(path, name), content);
  for (const [name, content] of Object.entries(files)) write(name, content);
  const folder = new KnowledgeFolder(path, logger);
  const headings = async () => (await folder.current()).sections.map(({ heading }) => heading);
  return { path, folder, warnings, write, headings };
}

describe('a folder', () => {
  it('is read again when a file is added, changed or removed', async () => {
    const { path, write, headings, folder } = folderWith({ 'a.md': '# One\nText' });
    expect(await headings()).toEqual(['One']);
    const before = await folder.current();
    expect(await folder.current()).toBe(before);
    write('a.md', '# Two\nText');
    expect(await headings()).toEqual(['Two']);
    mkdirSync(join(path, 'more'));
    write('more/b.md', '# Three\nText');
    expect(await headings()).toEqual(['Two', 'Three']);
    rmSync(join(path, 'a.md'));
    expect(await headings()).toEqual(['Three']);
  });

  it('skips unusable files, each with one warning', async () => {
    const { path, headings, warnings } = folderWith({
      'good.md': '# Good\nText',
      'picture.md': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]),
      'latin1.md': Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]),
      'huge.md': Buffer.alloc(1024 * 1024 + 1, 'x'),
      'notes.txt': '# No Markdown\nText',
      '.hidden.md': '# Hidden\nText',
    });
    symlinkSync(join(path, 'nowhere'), join(path, 'dangling.md'));
    mkdirSync(join(path, 'folder.md'));
    for (let n = 0; n < 3; n++) expect(await headings()).toEqual(['Good']);
    expect(warnings).toEqual([
      [
        'knowledge.file_skipped',
        expect.objectContaining({ file: 'dangling.md', reason: 'unreadable' }),
      ],
      ['knowledge.file_skipped', { file: 'huge.md', reason: 'too_large' }],
      ['knowledge.file_skipped', { file: 'latin1.md', reason: 'not_text' }],
      ['knowledge.file_skipped', { file: 'picture.md', reason: 'not_text' }],
    ]);
  });

  it('has five thousand sections at most; further files are skipped, each with one warning', async () => {
    const many = '# One\nText\n'.repeat(1000);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.md`);
    const files = Object.fromEntries(names.map((name) => [name, many]));
    const { headings, warnings } = folderWith({ ...files, 'z.md': '# Z\nText' });
    for (let n = 0; n < 2; n++) expect(await headings()).toHaveLength(5000);
    expect(warnings).toEqual(
      ['f.md', 'z.md'].map((file) => [
        'knowledge.file_skipped',
        { file, reason: 'too_many_sections' },
      ]),
    );
  });

  it('has a hundred thousand phrases at most', async () => {
    const section = `# One\n<!-- also: ${'phrase, '.repeat(500)} -->\nText\n`;
    const { folder, warnings } = folderWith({ 'a.md': section.repeat(200), 'b.md': section });
    expect((await folder.current()).sections).toHaveLength(200);
    expect(warnings).toEqual([
      ['knowledge.file_skipped', { file: 'b.md', reason: 'too_many_phrases' }],
    ]);
  });

  it('keeps its contents when it is removed; a folder that never existed is an error', async () => {
    const { path, headings, warnings } = folderWith({ 'a.md': '# One\nText' });
    await headings();
    rmSync(path, { recursive: true });
    expect(await headings()).toEqual(['One']);
    expect(await headings()).toEqual(['One']);
    expect(warnings).toHaveLength(1);
    expect(() => new KnowledgeFolder(path, silentLogger)).toThrow('ENOENT');
  });

  it('of one short file answers too', async () => {
    const { folder } = folderWith({ 'a.md': 'We have boats.' });
    const knowledge = await folder.current();
    expect(answersTo(knowledge, 'boats?', undefined, 'en', 1)).toHaveLength(1);
    expect(answersTo(knowledge, 'trains?', undefined, 'en', 1)).toEqual([]);
    const preamble = 'Dear all, I met a friend of yours on the quay yesterday. '.repeat(10);
    expect(answersTo(knowledge, `${preamble}boats?`, undefined, 'en', 1)).toHaveLength(1);
  });
});

describe('sections', () => {
  it('are cut at headings, comments and front matter are not shown', () => {
    const markdown = [
      '---\ntitle: x\n---\nBefore.\n# Title #\nIntro.\n## One',
      '<!-- also: uno -->',
      'First.\n```sh\n# no heading\n```\n### Empty\n## Two\r\nSecond. <!-- without an end',
    ].join('\n');
    expect(sectionsOf(markdown, 'x/y.md')).toMatchObject([
      { title: 'Title', heading: 'Title', text: 'Before.' },
      { heading: 'Title', text: 'Intro.' },
      { heading: 'One', text: 'First.\n```sh\n# no heading\n```', also: ' also: uno ' },
      { heading: 'Two', text: 'Second. <!-- without an end' },
    ]);
    expect(sectionsOf('Text', 'help/opening-hours.md')).toMatchObject([
      { title: 'opening hours', heading: 'opening hours' },
    ]);
  });

  it.each([
    '#'.repeat(500_000),
    `# ${'# '.repeat(250_000)}`,
    '<!--'.repeat(250_000),
    '```\n'.repeat(200_000),
  ])('of a hostile file take no time: %#', (markdown) => {
    const start = performance.now();
    sectionsOf(markdown, 'a.md');
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('a comment is searched', () => {
    const knowledge = new Knowledge(
      sectionsOf('# H\n## Ships\n<!-- also: ferry -->\nText.', 'a.md'),
    );
    expect(knowledge.search('ferry', undefined, 3)).toMatchObject([
      { section: { heading: 'Ships' } },
    ]);
  });
});

describe('sections for people', () => {
  const parts = [
    '# Help\n## Delivery time\n<!-- also: when does it arrive -->\nTwo days.',
    '## Shipping cost\nIt is 5.',
    '## Jobs\n<!-- for people: are you hiring, apply for a job, job in delivery -->',
  ];
  const knowledge = new Knowledge(sectionsOf(parts.join('\n'), 'a.md'));
  const headings = (text: string) =>
    answersTo(knowledge, text, undefined, undefined, 2).map(({ heading }) => heading);

  it('need no text, and are never shown', () => {
    const shown = ['Delivery time', 'Shipping cost'];
    expect(knowledge.sections.map(({ heading }) => heading)).toEqual(shown);
    expect(knowledge.search('apply for a job', undefined, 3)).toEqual([]);
  });

  it('keep the questions that fit them from being answered', () => {
    expect(headings('What is the delivery time?')).toEqual(['Delivery time']);
    expect(headings('Is there a job in delivery?')).toEqual([]);
    expect(headings('Are you hiring?')).toEqual([]);
  });

  it('keep a message from being answered if one of its questions fits them', () => {
    expect(headings('When does it arrive? Shipping cost?')).toHaveLength(2);
    expect(headings('When does it arrive? Are you hiring?')).toEqual([]);
  });

  it('of a language without texts do not keep other texts from being searched', () => {
    const own = sectionsOf('# X\n## Y\n<!-- for people: und der die das ist ich -->', 'b.md');
    expect(own).toMatchObject([{ language: 'de', isForPeople: true }]);
    const both = new Knowledge([...sectionsOf('# H\n## Express\nIt is 9.', 'a.md'), ...own]);
    expect(answersTo(both, 'Express?', undefined, 'de', 1)).toHaveLength(1);
  });
});

describe('two questions', () => {
  const knowledge = new Knowledge(
    sectionsOf(
      '# H\n## Shipping cost\nIt is 5.\n## Delivery time\nTwo days.\n## Colours\nRed.',
      'a.md',
    ),
  );
  const headings = (text: string, limit: number) =>
    answersTo(knowledge, text, undefined, 'en', limit).map(({ heading }) => heading);

  it('get two sections, where there is room', () => {
    const text =
      'Dear all, I like the red one. What is the shipping cost? And the delivery time? Ann';
    expect(headings(text, 2)).toEqual(['Shipping cost', 'Delivery time']);
    expect(headings(text, 1)).toEqual(['Shipping cost']);
  });
});

it('a question to a large folder with words that nobody knows takes no time', () => {
  const sections = Array.from({ length: 4000 }, (_, n) => ({
    ...{
      source: `${n}.md`,
      title: `T${n}`,
      heading: `Heading ${n}`,
      also: '',
      isForPeople: false,
      language: undefined,
    },
    phrases: Array.from({ length: 20 }, (__, at) => `word${n}x${at} more${at}`),
    text: `text${n} of many words. `.repeat(5),
  }));
  const knowledge = new Knowledge(sections);
  const question = Array.from({ length: 500 }, (_, n) => `w0rd${n}y more${n % 20}`).join(' ');
  // The first one makes the index.
  knowledge.fits(question, undefined);
  const before = threadTimes(process.pid).main;
  for (let n = 0; n < 20; n += 1) knowledge.fits(question, undefined);
  expect(threadTimes(process.pid).main - before).toBeLessThan(10_000);
});
