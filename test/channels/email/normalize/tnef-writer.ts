/** Writes winmail.dat as MS-OXTNEF lays it out; it shares nothing with the reader. */

export interface TnefFileSample {
  readonly name: string;
  readonly data: Buffer;
  readonly properties?: readonly Buffer[];
}

export function tnef(attributes: readonly Buffer[], codePage = 1252): Buffer {
  const header = Buffer.alloc(6);
  header.writeUInt32LE(0x223e9f78, 0);
  header.writeUInt16LE(1, 4);
  return Buffer.concat([header, attribute(1, 0x69007, words(codePage, 0)), ...attributes]);
}

export function attribute(level: 1 | 2, id: number, data: Buffer, length = data.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(level, 0);
  head.writeUInt32LE(id, 1);
  head.writeUInt32LE(length, 5);
  const sum = Buffer.alloc(2);
  sum.writeUInt16LE(data.reduce((total, byte) => total + byte, 0) % 65_536, 0);
  return Buffer.concat([head, data, sum]);
}

export function file({ name, data, properties }: TnefFileSample): Buffer {
  return Buffer.concat([
    attribute(2, 0x69002, Buffer.alloc(14)),
    attribute(2, 0x18010, Buffer.from(`${name}\0`, 'latin1')),
    attribute(2, 0x6800f, data),
    ...(properties === undefined ? [] : [attribute(2, 0x69005, propertyList(properties))]),
  ]);
}

/** A message as an attachment: an object with the interface id of messages. */
export function enclosed(message: Buffer): Buffer {
  const interfaceId = Buffer.from('0703020000000000c000000000000046', 'hex');
  const object = property(0x0d, 0x3701, Buffer.concat([interfaceId, message]));
  return Buffer.concat([
    attribute(2, 0x69002, Buffer.alloc(14)),
    attribute(2, 0x69005, propertyList([object])),
  ]);
}

export function propertyList(properties: readonly Buffer[], count = properties.length): Buffer {
  return Buffer.concat([words(count), ...properties]);
}

/** A property of one value of variable length. */
export function property(type: number, id: number, value: Buffer, length = value.length): Buffer {
  const padding = Buffer.alloc((4 - (value.length % 4)) % 4);
  return Buffer.concat([words(((id << 16) | type) >>> 0, 1, length), value, padding]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32LE(value, index * 4));
  return bytes;
}
