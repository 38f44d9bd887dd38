import { createAdminApp } from '../../../src/console/server/admin-app.ts';
import { SignIn } from '../../../src/console/server/sign-in.ts';
import { consoleRoutes } from '../../../src/gateway/console-routes.ts';
import { silentLogger } from '../../../src/observability/logger.ts';

/** Anything that is needed to make the routes, which are not called. */
const anything: unknown = new Proxy(() => anything, { get: () => anything });

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle: { readonly stack?: readonly Layer[] };
  /** Where a router is mounted. */
  readonly rawPath: string;
}

/** What the admin listener serves: `get /api/entries/{id}`. */
export function servedRoutes(): string[] {
  const app = createAdminApp({
    readiness: { healthz: () => undefined, readyz: () => undefined } as never,
    metrics: () => Promise.resolve(''),
    logger: silentLogger,
    signIn: new SignIn(anything as never),
    routes: consoleRoutes(anything as never),
    ...{ host: 'localhost', hosts: [], pageFolder: '/nowhere' },
  });
  // Express does not declare what its router consists of.
  return routesOf((app.router as unknown as { stack: readonly Layer[] }).stack, '');
}

function routesOf(stack: readonly Layer[], prefix: string): string[] {
  return stack.flatMap((layer) => {
    const { route, handle, rawPath } = layer;
    if (route !== undefined) {
      const path = prefix + route.path.replace(/:(\w+)/g, '{$1}');
      return Object.keys(route.methods).map((method) => `${method} ${path}`);
    }
    return routesOf(handle.stack ?? [], rawPath === '/' ? prefix : prefix + rawPath);
  });
}
