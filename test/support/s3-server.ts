import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import S3rver from 's3rver';
import { startSwift } from './swift-cluster.ts';
import { tempDir } from './temp-dir.ts';

const BUCKET = 'mail';

export interface S3Server {
  readonly host: string;
  readonly port: number;
  /** `spool.blobs` for its bucket; `endpoint` is that of a proxy before it. */
  blobsUrl(options?: { endpoint?: string; bucket?: string }): string;
  /** The keys of the objects that are in the bucket. */
  keys(): Promise<string[]>;
  /** Deletes an object without the gateway, as a lifecycle rule of the bucket would. */
  remove(key: string): Promise<void>;
  stop(): Promise<void>;
}

interface Program {
  readonly host: string;
  readonly port: number;
  readonly region?: string;
  readonly accessKey: string;
  readonly secretKey: string;
  stop(): Promise<void>;
}

const PROGRAMS: Readonly<Record<string, () => Promise<Program>>> = {
  s3rver: startS3rver,
  swift: startSwift,
};

/**
 * An S3 server with an empty bucket, and its credentials in this process's environment. It is that of
 * `SLUICE_TEST_S3`: `s3rver`, the default, or `swift`, which is OpenStack Swift from Debian's packages
 * swift-proxy, swift-account, swift-container and swift-object.
 */
export async function startS3(): Promise<S3Server> {
  const name = process.env['SLUICE_TEST_S3'] ?? 's3rver';
  const start = PROGRAMS[name];
  if (start === undefined)
    throw new Error(`SLUICE_TEST_S3 is ${Object.keys(PROGRAMS).join(' or ')}, not ${name}`);
  const program = await start();
  const { host, port, region, accessKey, secretKey } = program;
  process.env['AWS_ACCESS_KEY_ID'] = accessKey;
  process.env['AWS_SECRET_ACCESS_KEY'] = secretKey;
  const address = `http://${host}:${port}`;
  const client = new S3Client({
    endpoint: address,
    forcePathStyle: true,
    region: region ?? 'us-east-1',
  });
  const stop = async () => {
    client.destroy();
    await program.stop();
  };
  try {
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ host, port, stop },
    blobsUrl: ({ endpoint = address, bucket = BUCKET } = {}) => {
      const parameters = new URLSearchParams({ endpoint, ...(region !== undefined && { region }) });
      return `s3://${bucket}?${parameters.toString()}`;
    },
    keys: async () => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET }));
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    remove: async (key) => {
      await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }));
    },
  };
}

/** It checks the protocol, and keeps nothing safe: it does not sync. */
async function startS3rver(): Promise<Program> {
  const folder = tempDir();
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(folder.path, 's3') },
    configureBuckets: [],
  });
  const { port } = await server.run();
  const stop = async () => {
    await server.close();
    folder.remove();
  };
  const keys = { accessKey: 'S3RVER', secretKey: 'S3RVER' };
  return { host: '127.0.0.1', port, ...keys, stop };
}
