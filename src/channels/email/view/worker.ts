import { parentPort } from 'node:worker_threads';
import { serveRpc } from '../../../runtime/worker-rpc.ts';
import { viewMessage } from './view-message.ts';
import type { ViewThread } from './message-viewer.ts';

serveRpc<ViewThread>(parentPort, { view: viewMessage });
