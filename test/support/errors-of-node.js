import { types } from 'node:util';

// jest runs each file in a realm of its own, in which the errors of Node's modules (fs, net, dns)
// are no instances of Error. In a process of the program they are.
const ordinary = Function.prototype[Symbol.hasInstance];

Object.defineProperty(Error, Symbol.hasInstance, {
  value(thing) {
    return ordinary.call(this, thing) || (this === Error && types.isNativeError(thing));
  },
});
