// Writes the open points of src/local-platform/open-points.ts into docs/local-platform.md. Run it after a
// change of them; a test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import './ts-loader.mjs';
import { ROOT } from './workspace.mjs';

const { OPEN_POINTS } = await import('../src/local-platform/open-points.ts');
const MARK = '<!-- decisions -->\n';
const file = join(ROOT, 'docs/local-platform.md');
const [before] = readFileSync(file, 'utf8').split(MARK);
const list = OPEN_POINTS.map(([open, here]) => `- **${open}**: ${here}\n`).join('');
writeFileSync(file, `${before}${MARK}\n${list}`);
