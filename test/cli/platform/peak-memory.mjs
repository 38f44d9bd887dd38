// node --import peak-memory.mjs: says at the end how much memory the process has had, in KiB.
process.on('exit', () => process.stderr.write(`peak: ${process.resourceUsage().maxRSS}\n`));
