// Imported into every thread of a measured process. Writes to a file which program each thread runs and, if the heap is
// counted, each time the process gets SIGUSR2 the bytes of heap that each thread has allocated since it started.
import { appendFileSync, readlinkSync } from 'node:fs';
import { GCProfiler, getHeapStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const options = new URL(import.meta.url).searchParams;
const file = options.get('file');
// proc(5): PID/task/TID of the thread that asks.
const thread = readlinkSync('/proc/thread-self').split('/').at(-1);

if (options.has('heap')) countHeap();
const program = isMainThread ? 'main' : process.argv[1]?.split('/').at(-1);
appendFileSync(file, `name ${thread} ${program}\n`);

function countHeap() {
  const usedHeap = () => getHeapStatistics().used_heap_size;
  const profiler = new GCProfiler();
  let allocated = 0;
  let used = usedHeap();
  profiler.start();

  /** Between two collections the heap only grows, so its growth is what was allocated. */
  const tell = () => {
    const now = usedHeap();
    for (const { beforeGC, afterGC } of profiler.stop().statistics) {
      allocated += beforeGC.heapStatistics.usedHeapSize - used;
      used = afterGC.heapStatistics.usedHeapSize;
    }
    allocated += now - used;
    appendFileSync(file, `heap ${thread} ${allocated}\n`);
    // What this function allocated is left out.
    profiler.start();
    used = usedHeap();
  };

  // Only the main thread receives signals.
  const asked = new BroadcastChannel('heap');
  asked.onmessage = tell;
  asked.unref();
  if (!isMainThread) return;
  process.on('SIGUSR2', () => {
    asked.postMessage('');
    tell();
  });
}
