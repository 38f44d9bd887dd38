import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const CHART = 'config/deploy/helm';
const helm = (...args: string[]) => spawnSync('helm', args, { encoding: 'utf8' });
const there = helm('version').status === 0;
if (!there) {
  process.stderr.write('\n!! SKIPPED: the rendered Helm chart, since helm is not installed\n');
}

/** What Kubernetes takes, by kind. */
const KINDS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  ...{ ConfigMap, StatefulSet, Deployment, PodDisruptionBudget, Ingress, NetworkPolicy, Service },
};
const manifestSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as object;
// The file is a schema.
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as object;
const isValid = new Ajv({ allErrors: true }).compile(schema);

test('the chart is of the version of the package', () => {
  const chart = z
    .strictObject({
      ...{ apiVersion: z.literal('v2'), name: z.literal('sluice'), type: z.literal('application') },
      ...{ description: z.string(), keywords: z.array(z.string()) },
      ...{ version: z.string(), appVersion: z.string(), kubeVersion: z.string() },
    })
    .parse(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')));
  const { version } = z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  expect(chart).toMatchObject({ version, appVersion: version });
});

test('the default values are valid, and misspelt or wrong ones are not', () => {
  expect(isValid(values)).toBe(true);
  const wrong = [
    { ...values, ingres: { enabled: true } },
    { ...values, store: { kind: 'mysql', sqlite: {}, postgresql: {} } },
    { ...values, smtp: { port: 0 } },
    { ...values, secret: '' },
  ];
  expect(wrong.map((each) => isValid(each))).toEqual([false, false, false, false]);
});

/** `store.sqlite.size`: the values that are not objects, and objects whose keys are free. */
function leaves(of: object, path: readonly string[] = []): string[] {
  return Object.entries(of).flatMap(([key, value]: [string, unknown]) => {
    const here = [...path, key];
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
    const isFree = ['annotations', 'resources', 'config'].includes(key);
    return isGroup && !isFree && Object.keys(value).length > 0
      ? leaves(value, here)
      : [here.join('.')];
  });
}

test('the templates use every value, and no other', () => {
  const templates = readdirSync(join(CHART, 'templates')).map((name) =>
    readFileSync(join(CHART, 'templates', name), 'utf8'),
  );
  const used = templates.flatMap((text) =>
    [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path),
  );
  const inConfig = (path: string) => !path.startsWith('config.');
  expect([...new Set(used)].filter(inConfig).sort()).toEqual(leaves(values).sort());
});

const EVERYTHING = {
  store: { kind: 'postgresql' },
  config: { smtp: { hostname: 'mx.acme.example' } },
  imagePullSecrets: [{ name: 'pull' }],
  smtp: { annotations: { a: 'b' } },
  ingress: { enabled: true, className: 'nginx' },
  networkPolicy: { enabled: true },
  ...{
    podAnnotations: { a: 'b' },
    nodeSelector: { a: 'b' },
    tolerations: [{ operator: 'Exists' }],
  },
};

(there ? describe : describe.skip)('rendered by helm', () => {
  test('helm lint finds nothing', () => {
    const { status, stdout } = helm('lint', '--strict', CHART);
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });

  test.each([
    ['config/deploy/kubernetes/statefulset.yaml', {}],
    ['config/deploy/kubernetes-fleet/deployment.yaml', EVERYTHING],
  ])('the manifests are valid, and the pod is that of %s', (manifest, change) => {
    const args = Object.entries(change).flatMap(([key, value]) => [
      '--set-json',
      `${key}=${JSON.stringify(value)}`,
    ]);
    const { status, stdout, stderr } = helm('template', 'sluice', CHART, ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const rendered = manifestsIn(stdout);
    for (const each of rendered) {
      const { kind } = manifestSchema.parse(each);
      const Kind = KINDS[kind];
      if (Kind === undefined) throw new Error(`${kind} is not known`);
      expect(() => new Kind(each as never).validate()).not.toThrow();
    }
    expect(containersOf(rendered)).toEqual(
      containersOf(manifestsIn(readFileSync(manifest, 'utf8'))),
    );
  });
});

const manifestsIn = (text: string): unknown[] =>
  parseAllDocuments(text).flatMap((one) => (one.toJS() as unknown) ?? []);

/** Ports, probes, mounts and rights, which the chart and the manifests have in common. */
function containersOf(manifests: readonly unknown[]): unknown {
  const workload = manifests.find((each) =>
    ['StatefulSet', 'Deployment'].includes(manifestSchema.parse(each).kind),
  );
  const container = z.object({
    ...{ ports: z.unknown(), securityContext: z.unknown(), volumeMounts: z.unknown() },
    ...{ readinessProbe: z.unknown(), livenessProbe: z.unknown(), startupProbe: z.unknown() },
    ...{ lifecycle: z.unknown(), resources: z.unknown() },
  });
  const { spec } = z
    .object({
      spec: z.object({
        replicas: z.number(),
        template: z.object({
          spec: z.object({
            securityContext: z.unknown(),
            terminationGracePeriodSeconds: z.number(),
            containers: z.array(container),
          }),
        }),
      }),
    })
    .parse(workload);
  const { containers, ...pod } = spec.template.spec;
  return { replicas: spec.replicas, ...pod, container: containers[0] };
}
