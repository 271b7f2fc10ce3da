import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const trueColourWithAlpha = 6;

/** Encodes RGBA pixels. */
export function encodePng(rgba: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, trueColourWithAlpha], 8);
  const row = width * 4;
  // Each row begins with its filter, 0 for none.
  const rows = Buffer.alloc((row + 1) * height);
  for (let y = 0; y < height; y++) rows.set(rgba.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  return new Uint8Array(
    Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')]),
  );
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
