import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  convertWorkflowTemplate,
  NoOperationTraceWriter,
  parseWorkflow,
} from '@actions/workflow-parser';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'));
const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

/** GitHub's own parser of workflows: the schema, and the expressions in it. */
async function faultsIn(name: string, content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

const workflowSchema = z.looseObject({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.looseObject({
      'timeout-minutes': z.number(),
      permissions: z.record(z.string(), z.string()).default({}),
      strategy: z.looseObject({ matrix: z.record(z.string(), z.array(z.unknown())) }).optional(),
      steps: z.array(
        z.looseObject({
          uses: z.string().optional(),
          run: z.string().optional(),
          with: z.record(z.string(), z.unknown()).default({}),
        }),
      ),
    }),
  ),
});

describe.each(filesIn('.github/workflows'))('%s', (file) => {
  const content = readFileSync(file, 'utf8');
  const { jobs, permissions } = workflowSchema.parse(parse(content));
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  test("GitHub's parser finds no fault in it", async () => {
    expect(await faultsIn(file, content)).toEqual([]);
  });

  test('by default it may read only; every action has a version', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/@(?:v\d+|[0-9a-f]{40})$/.test(action))).toEqual([]);
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith('actions/checkout@')) {
        expect(options['persist-credentials']).toBe(false);
      }
    }
  });

  test('no text from outside becomes part of a script', () => {
    const scripts = steps.flatMap(({ run }) => run ?? []);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });
});

test("GitHub's parser would find one", async () => {
  const faults = await faultsIn(
    'wrong.yml',
    'on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    permissions: { everything: write }\n    steps:\n      - run: ${{ nothing.here }}\n',
  );
  expect(faults.join('\n')).toMatch(/everything/);
  expect(faults.join('\n')).toMatch(/nothing/);
});

test('what runs is .ci/run, on each supported version of Node', () => {
  const { jobs } = workflowSchema.parse(read('.github/workflows/ci.yml'));
  expect(jobs['test']?.strategy?.matrix).toEqual({ node: [20, 22, 24] });
  expect(jobs['test']?.steps.at(-1)?.run).toBe('bash .ci/run');
});

// docs.github.com: "Dependabot options reference".
const dependabotSchema = z.strictObject({
  version: z.literal(2),
  updates: z.array(
    z.strictObject({
      'package-ecosystem': z.enum(['npm', 'github-actions', 'docker']),
      directory: z.literal('/'),
      schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
      'versioning-strategy': z
        .enum(['auto', 'increase', 'increase-if-necessary', 'lockfile-only', 'widen'])
        .optional(),
      'open-pull-requests-limit': z.int().positive().optional(),
      groups: z.record(
        z.string().regex(/^[a-zA-Z][\w|-]*[a-zA-Z]$/),
        z.strictObject({
          patterns: z.array(z.string()).optional(),
          'dependency-type': z.enum(['production', 'development']).optional(),
          'update-types': z.array(z.enum(['major', 'minor', 'patch'])).optional(),
        }),
      ),
    }),
  ),
});

test('Dependabot updates packages, actions and images, in groups', () => {
  const { updates } = dependabotSchema.parse(read('.github/dependabot.yml'));
  const kinds = updates.map((update) => update['package-ecosystem']);
  expect(kinds).toEqual(['npm', 'github-actions', 'docker']);
  expect(updates.every(({ groups }) => Object.keys(groups).length > 0)).toBe(true);
});

// docs.github.com: "Syntax for GitHub's form schema".
const label = { label: z.string().min(1), description: z.string().optional() };
const field = {
  id: z.string().regex(/^[\w-]+$/),
  validations: z.strictObject({ required: z.boolean() }).optional(),
};
const texts = { placeholder: z.string().optional(), value: z.string().optional() };
const formSchema = z.strictObject({
  name: z.string().min(3),
  description: z.string().min(3),
  labels: z.array(z.string()),
  body: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('markdown'),
        attributes: z.strictObject({ value: z.string() }),
      }),
      z.strictObject({
        ...{ type: z.literal('input'), ...field },
        attributes: z.strictObject({ ...label, ...texts }),
      }),
      z.strictObject({
        ...{ type: z.literal('textarea'), ...field },
        attributes: z.strictObject({ ...label, ...texts, render: z.string().optional() }),
      }),
      z.strictObject({
        ...{ type: z.literal('dropdown'), ...field },
        attributes: z.strictObject({ ...label, options: z.array(z.string()).min(1) }),
      }),
    ]),
  ),
});

const FORMS = filesIn('.github/ISSUE_TEMPLATE').filter((file) => !file.endsWith('config.yml'));
test.each(FORMS)('%s is a form', (file) => {
  const { body } = formSchema.parse(read(file));
  const ids = body.flatMap((part) => ('id' in part ? [part.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(1);
});

test('there is no form for reports of weaknesses, which are private', () => {
  const config = z.strictObject({ blank_issues_enabled: z.literal(false) });
  expect(config.safeParse(read('.github/ISSUE_TEMPLATE/config.yml')).success).toBe(true);
});
