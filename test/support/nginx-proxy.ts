import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import { freePorts, ownLoopbackAddress } from './gateway-config.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

const NGINX = '/usr/sbin/nginx';

/** Why a real nginx cannot be started here; undefined when it can. */
export function whyNoNginx(): string | undefined {
  return existsSync(NGINX) ? undefined : 'nginx is not installed (npm test says how)';
}

export interface NginxProxy {
  readonly host: string;
  readonly port: number;
  /** Sends one request to it over TLS, checked against its certificate. */
  post(request: ProxiedRequest): Promise<ProxiedAnswer>;
  /** One line for each request: `target | Host as it came | upstream's status`. */
  accesses(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface ProxiedRequest {
  /** Path and query, sent as they are. */
  readonly target: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The client's own address. */
  readonly from?: string;
}

export interface ProxiedAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * A real nginx in the foreground, with a folder and a port of its own: TLS towards the world,
 * plain HTTP and another Host towards the gateway.
 * @param upstream where the gateway listens: `127.0.0.1:8080`
 * @param hostname the name in the certificate
 */
export async function startNginxProxy(upstream: string, hostname: string): Promise<NginxProxy> {
  const dir = tempDir();
  const folder = dir.path;
  const host = ownLoopbackAddress();
  const { http: port } = await freePorts(host);
  const { cert, private: key } = await generate([{ name: 'commonName', value: hostname }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: hostname }] }],
  });
  await Promise.all([
    mkdir(join(folder, 'tmp')),
    writeFile(join(folder, 'cert.pem'), cert),
    writeFile(join(folder, 'key.pem'), key, { mode: 0o600 }),
    writeFile(join(folder, 'nginx.conf'), configuration(folder, `${host}:${port}`, upstream)),
  ]);
  const log = join(folder, 'error.log');
  const child = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', log], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const post = (request: ProxiedRequest): Promise<ProxiedAnswer> =>
    postTo({ host, port, servername: hostname, ca: cert }, `${hostname}:${port}`, request);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= end(child, exited).then(() => dir.remove()));
  try {
    await waitFor('nginx', () => isUp(child, post), 20);
  } catch (error) {
    const why = await readFile(log, 'utf8').catch(() => '');
    await stop();
    throw new Error(`nginx did not start\n${why}`, { cause: error });
  }
  return {
    ...{ host, port, post, stop },
    accesses: async () =>
      (await readFile(join(folder, 'access.log'), 'utf8')).trimEnd().split('\n'),
  };
}

/**
 * A real nginx with the configuration that compose.yaml gives it, in front of these gateways.
 * @param upstreams where they listen, in the file's order
 * @returns its URL, and what ends it
 */
export async function startFleetNginx(
  upstreams: readonly string[],
): Promise<{ url: string; stop: () => Promise<void> }> {
  const dir = tempDir();
  const folder = dir.path;
  const host = ownLoopbackAddress();
  const { http: port } = await freePorts(host);
  let text = await readFile('config/deploy/fleet/nginx.conf', 'utf8');
  for (const [index, upstream] of upstreams.entries()) {
    text = text.replace(`gateway-${index + 1}:8080`, upstream);
  }
  text = text.replace('listen 8080', `listen ${host}:${port}`);
  text = alone(folder) + text.replace('http {', `http {\naccess_log off;${temporary(folder)}`);
  await mkdir(join(folder, 'tmp'));
  await writeFile(join(folder, 'nginx.conf'), text);
  const log = join(folder, 'error.log');
  const child = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', log], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const stop = () => end(child, exited).then(() => dir.remove());
  const url = `http://${host}:${port}`;
  const isThere = async () => {
    if (child.exitCode !== null) throw new Error(await readFile(log, 'utf8'));
    return fetch(url, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    );
  };
  await waitFor('nginx', isThere, 20).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url, stop };
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  await exited;
}

/** Without a master process this one is all of nginx: it ends with its id. */
const alone = (folder: string): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log info;
`;

const temporary = (folder: string): string => `
  client_body_temp_path ${folder}/tmp/body;
  proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/fastcgi;
  uwsgi_temp_path ${folder}/tmp/uwsgi;
  scgi_temp_path ${folder}/tmp/scgi;
`;

const configuration = (folder: string, listen: string, upstream: string): string => `
${alone(folder)}
events { worker_connections 64; }
http {
  log_format seen '$request_uri | $http_host | $upstream_status';
  access_log ${folder}/access.log seen;
  ${temporary(folder)}
  server {
    listen ${listen} ssl;
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    location / {
      proxy_pass http://${upstream};
      proxy_bind 127.0.0.1;
      proxy_set_header Host gateway.internal;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;

async function isUp(child: ChildProcess, post: NginxProxy['post']): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  // A 502 as long as nothing listens behind it: nginx itself is there.
  return post({ target: '/', body: '', headers: {} }).then(
    () => true,
    () => false,
  );
}

async function postTo(
  server: https.RequestOptions,
  authority: string,
  { target, body, headers, from }: ProxiedRequest,
): Promise<ProxiedAnswer> {
  const request = https.request({
    ...server,
    method: 'POST',
    path: target,
    agent: false,
    headers: { Host: authority, 'Content-Length': Buffer.byteLength(body), ...headers },
    ...(from !== undefined && { localAddress: from }),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  request.end(body);
  const response = await answered;
  return { status: response.statusCode ?? 0, body: await text(response) };
}
