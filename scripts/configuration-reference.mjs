// Writes docs/configuration.md: every key of the schema with what it takes, its default and its
// comment in config/default.yaml. Run it after a change of either; with --check, which a test runs,
// it writes nothing and fails when the page is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { isMap, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import './ts-loader.mjs';
import { ROOT } from './workspace.mjs';

const { configSchema } = await import('../src/config/schema.ts');
const { descriptions } = await import('../src/config/field.ts');
const { variableAt } = await import('../src/config/variables.ts');

const PAGE = join(ROOT, 'docs/configuration.md');

/** Keys without a default stand behind a `#`, and the keys of a shop in a comment at the end. */
function withAllKeys(text) {
  const [top, shop] = text.split(/^shops: \[\]\n(?:# .*\n)*/m);
  const uncommented = shop.replace(/^#/gm, '').replace(/^(?=.)/gm, '  ');
  return `${top}shops:\n${uncommented}`.replace(/^(\s*)#(?=\w+:( |$))/gm, '$1');
}

/** Dotted path -> {comment, value as it is written, whether it is only an example}. */
function readDefaults() {
  const text = readFileSync(join(ROOT, 'config/default.yaml'), 'utf8');
  const found = new Map();
  const optional = new Set([...text.matchAll(/^\s*#(\w+):/gm)].map(([, key]) => key));
  const visit = (node, path) => {
    if (isSeq(node) && isMap(node.items[0])) return visit(node.items[0], `${path}[]`);
    if (!isMap(node)) return;
    for (const [index, { key, value }] of node.items.entries()) {
      const at = path === '' ? key.value : `${path}.${key.value}`;
      // Of the first key of a mapping, the comment is the mapping's own.
      const comment =
        key.commentBefore ?? (index === 0 ? node.commentBefore : undefined) ?? value?.comment ?? '';
      const written = value?.range && !isMap(value) && !isNested(value) ? source(value) : undefined;
      const isExample = optional.has(key.value) && !at.startsWith('shops');
      found.set(at, { comment: paragraph(comment), written, isExample });
      visit(value, at);
    }
  };
  const all = withAllKeys(text);
  const source = ({ range: [from, to] }) => all.slice(from, to).trim();
  const isNested = (value) => isSeq(value) && isMap(value.items[0]);
  const document = parseDocument(all);
  if (document.errors.length > 0) throw new Error(`default.yaml: ${document.errors[0].message}`);
  visit(document.contents, '');
  return found;
}

/** The last paragraph: what stands right above the key. */
const paragraph = (comment) =>
  comment
    .split(/\n\s*\n/)
    .at(-1)
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();

/** What stands behind defaults and optionality. */
function bare(schema) {
  return schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional
    ? bare(schema.unwrap())
    : schema;
}

const isOptional = (schema) =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;

function* leaves(schema, path = '') {
  const inner = bare(schema);
  if (inner instanceof z.ZodObject) {
    for (const [key, child] of Object.entries(inner.shape)) {
      yield* leaves(child, path === '' ? key : `${path}.${key}`);
    }
  } else if (inner instanceof z.ZodArray && bare(inner.element) instanceof z.ZodObject) {
    yield* leaves(inner.element, `${path}[]`);
  } else {
    yield { path, schema };
  }
}

function takes(schema) {
  const inner = bare(schema);
  const description = descriptions.get(inner) ?? descriptions.get(schema);
  if (description !== undefined) return description;
  if (inner instanceof z.ZodArray) {
    const item = takes(inner.element);
    return { ...item, expected: `a list, each ${item.expected}` };
  }
  throw new Error('a field of the schema has no description');
}

const inYaml = (value) => (Array.isArray(value) ? `[${value.join(', ')}]` : String(value));
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const code = (text) =>
  text === undefined || text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``;

/** The variable of a key as the tables name it; none below another list than that of the shops. */
const variableOf = (path) => variableAt(path.replace(/^shops\[\]/, 'shops[0]'))?.name;

const INTRODUCTION = `# Configuration

Sluice reads one YAML or JSON file and merges it with [\`config/default.yaml\`](../config/default.yaml). The file needs only the keys
that differ: mappings are merged, lists and single values replace the default. Pass it with \`--config FILE\` or \`SLUICE_CONFIG\`.

- \`\${NAME}\` is replaced with the environment variable, which must be set; \`\${NAME:-default}\` has a default; \`$\${\` is a literal \`\${\`.
- Each key can also be set by [an environment variable](#environment-variables), those of a single shop too.
- Durations are a whole number and a unit: \`30s\`, \`10m\`, \`72h\`, \`7d\`. Sizes are in bytes.
- An unknown key is reported as a mistake, with the nearest known key.
- \`sluice config check\` prints all mistakes at once. [reload.md](reload.md) lists the keys that can change without a restart.

[\`config/example.yaml\`](../config/example.yaml) is a small, complete configuration. This page is generated from the schema.

## Environment variables

Each key below has a variable, except \`admin.operators\`, so a gateway with one shop needs no file:

\`\`\`sh
export SLUICE_HTTP_PUBLIC_URL=https://gw.acme.example SLUICE_PLATFORM_URL=https://api.platform.example
export SLUICE_SHOP_NAME=acme SLUICE_SHOP_ID=4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40
export SLUICE_SHOP_API_KEY_FILE=/run/secrets/platform-api-key
export SLUICE_SHOP_EMAIL_ADDRESSES=support@acme.example,*@help.acme.example
export SLUICE_SHOP_CHAT_KEY=acme SLUICE_SHOP_CHAT_ORIGINS=https://acme.example
\`\`\`

- **The name** is \`SLUICE_\` and the key in upper case, with underscores between the words: \`delivery.giveUpAfter\` is
  \`SLUICE_DELIVERY_GIVE_UP_AFTER\`. A word that repeats the one before it is written once, and \`twilio\` is left out.
- **Values** are written as in the file, without quotes. In a list, commas or line breaks separate the items, so an item that contains a comma
  has to be in the file. An empty variable counts as unset.
- **The file overrides variables**, because a container image sets some of them. If the two differ, a warning is logged. \`sluice config show\`
  names the variable that a value comes from.
- **Shops** are described by the file or by variables. If the file has \`shops\` and a \`SLUICE_SHOP_…\` variable is set that the file does not use as
  \`\${NAME}\`, that is a mistake.
- **With \`_FILE\` appended to its name**, each takes the path of a file that contains the value, such as a Docker or Kubernetes secret:
  \`SLUICE_ADMIN_PASSWORD_FILE=/run/secrets/admin-password\`. A final line break is removed. Setting both names is a
  mistake. \`\${SLUICE_ADMIN_PASSWORD}\` in the file then has the content of that file, too.
- Any other variable that begins with \`SLUICE_\` is ignored unless the file uses it as \`\${NAME}\`; a warning names the nearest known
  variable.
`;

/** What stands above the mapping that a key is in, when that is no section of its own. */
function inherited(defaults, path) {
  const parent = path.slice(0, path.lastIndexOf('.'));
  return parent.replace('shops[].', '').includes('.') ? (defaults.get(parent)?.comment ?? '') : '';
}

function render() {
  const defaults = readDefaults();
  const sections = new Map();
  for (const { path, schema } of leaves(configSchema)) {
    const known = defaults.get(path);
    if (known === undefined) throw new Error(`config/default.yaml says nothing about ${path}`);
    const [head, ...rest] = path.split('.');
    const section = head === 'shops[]' && rest.length > 1 ? `shops[].${rest[0]}` : head;
    const { expected } = takes(schema);
    const none = isOptional(schema) || known.isExample;
    const filledIn = schema instanceof z.ZodPrefault;
    const required = path.startsWith('shops[]') && !none && !filledIn;
    const value = none
      ? 'none'
      : required
        ? 'required'
        : code(filledIn ? inYaml(schema.def.defaultValue) : known.written);
    const comment = path === head ? '' : known.comment || inherited(defaults, path);
    const row = `| \`${path}\` | ${value} | ${cell(expected)} | ${cell(comment)} | ${code(variableOf(path))} |`;
    sections.set(section, [...(sections.get(section) ?? []), row]);
  }
  const tables = [...sections].map(([section, rows]) =>
    [
      `\n## ${section}\n`,
      ...[defaults.get(section.replace('[]', ''))?.comment]
        .filter(Boolean)
        .map((text) => `${text}\n`),
      '| key | default | takes | what it does | variable |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
      '',
    ].join('\n'),
  );
  return `${INTRODUCTION}${tables.join('')}`;
}

const { code: page } = await format(PAGE, render());
if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, page);
} else if (readFileSync(PAGE, 'utf8') !== page) {
  console.error(
    'docs/configuration.md is not what the schema says: run node scripts/configuration-reference.mjs',
  );
  process.exitCode = 1;
}
