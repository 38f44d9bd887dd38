// Preloaded into the gateway: the names of the lying platforms lead where the file NAMES_FILE says, at this moment.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';

const { lookup } = dns;
const file = process.env.NAMES_FILE;

dns.lookup = (name, options, callback) => {
  if (!name.endsWith('.lies.example')) return lookup(name, options, callback);
  const address = JSON.parse(readFileSync(file, 'utf8'))[name];
  if (address === undefined) {
    const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    process.nextTick(callback, error);
  } else if (options.all) process.nextTick(callback, null, [{ address, family: 4 }]);
  else process.nextTick(callback, null, address, 4);
};
