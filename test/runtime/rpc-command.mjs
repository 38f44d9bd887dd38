import { RpcThread } from '../../dist/runtime/worker-rpc.js';

/** A command that asks a thread something and never stops it. */
const thread = new RpcThread(new URL('./rpc-thread.mjs', import.meta.url), {});
console.log(await thread.call('add', 1, 2));
