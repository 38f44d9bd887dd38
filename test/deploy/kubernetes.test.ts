import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';

const FOLDERS = ['config/deploy/kubernetes', 'config/deploy/kubernetes-fleet'];

/** The published schemas of the kinds that the manifests use. */
const KINDS: Readonly<Record<string, new (data: never) => { validate(): void }>> = {
  StatefulSet,
  Deployment,
  PodDisruptionBudget,
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
  configMapGenerator: z
    .array(z.object({ name: z.string(), files: z.array(z.string()) }))
    .default([]),
});
const podSchema = z.object({
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
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
        initContainers: z
          .array(z.looseObject({ volumeMounts: z.array(z.looseObject({ name: z.string() })) }))
          .default([]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
    volumeClaimTemplates: z
      .array(z.looseObject({ metadata: z.object({ name: z.string() }) }))
      .default([]),
  }),
});

const read = (file: string): unknown[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as unknown);

/** The files and manifests of a folder, and of those that it names. */
function kustomized(folder: string): { files: string[]; manifests: [string, unknown][] } {
  const file = join(folder, 'kustomization.yaml');
  const { resources, configMapGenerator } = kustomizationSchema.parse(read(file)[0]);
  const files = [
    file,
    ...configMapGenerator.flatMap((map) => map.files.map((one) => join(folder, one))),
  ];
  const parts = resources.map((resource) => {
    const path = join(folder, resource);
    if (statSync(path).isDirectory()) return kustomized(path);
    return {
      files: [path],
      manifests: read(path).map((value): [string, unknown] => [
        `${path}: ${manifestSchema.parse(value).kind}`,
        value,
      ]),
    };
  });
  return {
    files: [...files, ...parts.flatMap((part) => part.files)],
    manifests: parts.flatMap(({ manifests }) => manifests),
  };
}

test('every file is used', () => {
  const used = new Set(FOLDERS.flatMap((folder) => kustomized(folder).files));
  const there = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  expect(there.sort()).toEqual([...used].sort());
});

describe.each(FOLDERS)('%s', (FOLDER) => {
  const { manifests } = kustomized(FOLDER);
  const pod = podSchema.parse(
    manifests.find(([, value]) =>
      ['StatefulSet', 'Deployment'].includes(manifestSchema.parse(value).kind),
    )?.[1],
  );

  test.each(manifests)('%s is what Kubernetes takes', (_name, value) => {
    const kind = KINDS[manifestSchema.parse(value).kind];
    expect(kind).toBeDefined();
    if (kind !== undefined) expect(() => new kind(value as never).validate()).not.toThrow();
  });

  test('the configuration in it has no mistakes', () => {
    const loaded = loadConfig({
      file: join(FOLDER, 'sluice.yaml'),
      env: {
        ...{ PLATFORM_API_KEY: 'a-key-of-the-platform', SLUICE_ADMIN_PASSWORD: 'a-long-password' },
        SLUICE_SPOOL_URL: 'postgres://sluice@db.internal/sluice',
      },
    });
    expect(loaded).toMatchObject({ ok: true });
  });

  test('the pods, which services, selector and policy mean, have time for a graceful stop', () => {
    const { spec } = pod;
    // The embedded store is one process's; a fleet survives the loss of one.
    expect(spec.replicas).toBe(spec.volumeClaimTemplates.length > 0 ? 1 : 3);
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    for (const [, value] of manifests) {
      const { spec: of } = z.looseObject({ spec: z.looseObject({}) }).parse(value);
      const selector = of['selector'] ?? of['podSelector'];
      if (selector === undefined) continue;
      const labels = z.looseObject({ matchLabels: z.unknown() }).safeParse(selector);
      expect(
        labels.success && labels.data.matchLabels !== undefined
          ? labels.data.matchLabels
          : selector,
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
    const mounts = [container, ...pod.spec.template.spec.initContainers].flatMap(
      ({ volumeMounts }) => volumeMounts.map(({ name }) => name),
    );
    expect([...new Set(mounts)].sort()).toEqual(volumes.sort());
    // The image's own data folder.
    expect(readFileSync('Dockerfile', 'utf8')).toContain('SLUICE_DATA_DIR=/data');
  });

  test('the admin port is reached through no service but the one without an address', () => {
    for (const [, value] of manifests) {
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
});
