import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { Service } from 'kubernetes-models/v1/Service';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';

const FOLDER = 'config/deploy/kubernetes';

/** The published schemas of the kinds that the manifests use. */
const KINDS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  StatefulSet,
  Ingress,
  NetworkPolicy,
  Service,
};

const manifestSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const kustomizationSchema = z.looseObject({
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.object({ name: z.string(), files: z.array(z.string()) })),
});
const podSchema = z.object({
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    serviceName: z.string(),
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.looseObject({
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
            volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
            ...Object.fromEntries(
              ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => [
                probe,
                z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
              ]),
            ),
          }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.object({ name: z.string() }) })),
  }),
});

const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const kustomization = kustomizationSchema.parse(parse(read('kustomization.yaml')));
const manifests = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => ({ file, value: document.toJS() as unknown })),
);
const pod = podSchema.parse(
  manifests.find(({ value }) => manifestSchema.parse(value).kind === 'StatefulSet')?.value,
);

test.each(
  manifests.map(({ file, value }) => [`${file}: ${manifestSchema.parse(value).kind}`, value]),
)('%s is what Kubernetes takes', (_name, value) => {
  const kind = KINDS[manifestSchema.parse(value).kind];
  expect(kind).toBeDefined();
  if (kind !== undefined) expect(() => new kind(value as never).validate()).not.toThrow();
});

test('every file of the folder is used', () => {
  const used = [
    'kustomization.yaml',
    ...kustomization.resources,
    ...kustomization.configMapGenerator.flatMap(({ files }) => files),
  ];
  expect(readdirSync(FOLDER).sort()).toEqual(used.sort());
});

test('the configuration in it has no mistakes', () => {
  const loaded = loadConfig({
    file: join(FOLDER, 'sluice.yaml'),
    env: { PLATFORM_API_KEY: 'a-key-of-the-platform', SLUICE_ADMIN_PASSWORD: 'a-long-password' },
  });
  expect(loaded).toMatchObject({ ok: true });
});

test('one pod, which services, selector and policy mean, has time for a graceful stop', () => {
  const { spec } = pod;
  expect(spec.replicas).toBe(1);
  expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
  for (const { value } of manifests) {
    const { spec: of } = z.looseObject({ spec: z.looseObject({}) }).parse(value);
    const selector = of['selector'] ?? of['podSelector'];
    if (selector === undefined) continue;
    const labels = z.looseObject({ matchLabels: z.unknown() }).safeParse(selector);
    expect(
      labels.success && labels.data.matchLabels !== undefined ? labels.data.matchLabels : selector,
    ).toEqual(spec.selector.matchLabels);
  }
  // `STOP_DEADLINE_MS` of serve, and the 5 s before it.
  expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(35);
});

test("ports, probes and mounts are the gateway's", () => {
  const [container] = pod.spec.template.spec.containers;
  const loaded = loadConfig({ env: {} });
  if (!loaded.ok) throw new Error('the defaults have mistakes');
  const { smtp, http, admin } = loaded.config;
  expect(container.ports).toEqual([
    { name: 'smtp', containerPort: smtp.port },
    { name: 'http', containerPort: http.port },
    { name: 'admin', containerPort: admin.port },
  ]);
  expect(container).toMatchObject({
    startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
    readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
    livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
  });
  const volumes = [
    ...pod.spec.template.spec.volumes.map(({ name }) => name),
    ...pod.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
  ];
  expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.sort());
  // The image's own data folder.
  expect(readFileSync('Dockerfile', 'utf8')).toContain('SLUICE_DATA_DIR=/data');
});

test('the admin port is reached through no service but the one without an address', () => {
  for (const { value } of manifests) {
    const service = z
      .looseObject({
        kind: z.literal('Service'),
        spec: z.looseObject({
          clusterIP: z.string().optional(),
          ports: z.array(z.looseObject({ targetPort: z.string() })),
        }),
      })
      .safeParse(value);
    if (!service.success) continue;
    const { clusterIP, ports } = service.data.spec;
    if (ports.some(({ targetPort }) => targetPort === 'admin')) expect(clusterIP).toBe('None');
  }
});
