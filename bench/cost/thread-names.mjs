// Imported into every thread of a gateway: writes which thread runs which file.
import { appendFileSync, readlinkSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = new URL(import.meta.url).searchParams.get('file');
// proc(5): PID/task/TID of the thread that asks.
const thread = readlinkSync('/proc/thread-self').split('/').at(-1);
const name = isMainThread ? 'main' : process.argv[1]?.split('/').at(-1);
appendFileSync(file, `${thread} ${name}\n`);
