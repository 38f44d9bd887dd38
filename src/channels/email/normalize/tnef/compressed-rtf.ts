const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const HEADER_BYTES = 16;
const DICTIONARY_BYTES = 4096;
/** What the dictionary starts with (MS-OXRTFCP §2.1.2.1). */
const INITIAL =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';

/**
 * Unpacks compressed RTF (MS-OXRTFCP §2.2), at most `maxBytes` of it; a reference gives up to 17
 * bytes for two. What cannot be read ends it. Undefined when it is none.
 */
export function unpackRtf(bytes: Buffer, maxBytes: number): Buffer | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const rawSize = Math.min(bytes.readUInt32LE(4), maxBytes);
  const kind = bytes.readUInt32LE(8);
  if (kind === UNCOMPRESSED) return bytes.subarray(HEADER_BYTES, HEADER_BYTES + rawSize);
  return kind === COMPRESSED ? unpack(bytes, rawSize) : undefined;
}

function unpack(bytes: Buffer, maxBytes: number): Buffer {
  const dictionary = Buffer.alloc(DICTIONARY_BYTES);
  const output: number[] = [];
  let write = dictionary.write(INITIAL, 'latin1');
  const put = (byte: number) => {
    dictionary[write] = byte;
    write = (write + 1) % DICTIONARY_BYTES;
    output.push(byte);
  };
  let at = HEADER_BYTES;
  while (at < bytes.length && output.length < maxBytes) {
    const control = bytes.readUInt8(at);
    at += 1;
    for (let bit = 0; bit < 8 && output.length < maxBytes; bit += 1) {
      if ((control & (1 << bit)) === 0) {
        if (at >= bytes.length) return Buffer.from(output);
        put(bytes.readUInt8(at));
        at += 1;
        continue;
      }
      if (at + 2 > bytes.length) return Buffer.from(output);
      const reference = bytes.readUInt16BE(at);
      at += 2;
      const offset = reference >> 4;
      // A reference to the place of writing is the end.
      if (offset === write) return Buffer.from(output);
      for (let step = 0; step < (reference & 0xf) + 2; step += 1) {
        put(dictionary.readUInt8((offset + step) % DICTIONARY_BYTES));
      }
    }
  }
  return Buffer.from(output.slice(0, maxBytes));
}
