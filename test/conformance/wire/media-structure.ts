/** Returns why a complete file is not of its type, beyond its first bytes. Undefined if it is, or is not checked. */
export function structureProblem(mediaType: string, bytes: Buffer): string | undefined {
  return structures[mediaType]?.(bytes);
}

type Structure = (bytes: Buffer) => string | undefined;

/** ISO base media: boxes that fill the file, with an index and samples. */
const boxes: Structure = (bytes) => {
  const names: string[] = [];
  let at = 0;
  while (at + 8 <= bytes.length) {
    const short = bytes.readUInt32BE(at);
    const size =
      short === 1 && at + 16 <= bytes.length
        ? Number(bytes.readBigUInt64BE(at + 8))
        : short || bytes.length - at;
    names.push(bytes.toString('latin1', at + 4, at + 8));
    if (size < 8) return `a box of ${size} bytes`;
    at += size;
  }
  if (at !== bytes.length) return 'a box that extends beyond the end of the file';
  const missing = ['moov', 'mdat'].filter((name) => !names.includes(name) && !names.includes('moof'));
  return missing.length === 0 ? undefined : `no box ${missing.join(' and ')}`;
};

/** RIFF: the size in the header equals that of the file. A stream does not know its size. */
const riff: Structure = (bytes) => {
  const size = bytes.readUInt32LE(4);
  const isOpen = size === 0 || size >= 0x7f_00_00_00;
  return isOpen || Math.abs(size + 8 - bytes.length) <= 1
    ? undefined
    : `a header that states ${size + 8} bytes`;
};

/** PNG: ends with the chunk IEND. */
const png: Structure = (bytes) =>
  bytes.toString('latin1', bytes.length - 8, bytes.length - 4) === 'IEND'
    ? undefined
    : 'no chunk IEND at the end';

/** JPEG: ends with the marker EOI. */
const jpeg: Structure = (bytes) =>
  bytes.length > 4 && bytes.readUInt16BE(bytes.length - 2) === 0xffd9
    ? undefined
    : 'no marker EOI at the end';

/** Binary glTF: the length in the header equals that of the file. */
const gltf: Structure = (bytes) =>
  bytes.length >= 12 && bytes.readUInt32LE(8) === bytes.length ? undefined : 'a header with another length';

/** MP3: the first frame is followed by another. */
const mp3: Structure = (bytes) => {
  let at = 0;
  if (bytes.toString('latin1', 0, 3) === 'ID3')
    at = 10 + [6, 7, 8, 9].reduce((size, index) => size * 128 + ((bytes[index] ?? 0) & 0x7f), 0);
  for (let frame = 0; frame < 2; frame += 1) {
    const length = mp3FrameLength(bytes, at);
    if (length === undefined) return frame === 0 ? 'no frame' : 'no second frame';
    at += length;
  }
  return undefined;
};

const bitRates = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};

/** Returns the length of the MPEG layer III frame at an offset, in bytes. */
function mp3FrameLength(bytes: Buffer, at: number): number | undefined {
  if (at + 4 > bytes.length || (bytes.readUInt16BE(at) & 0xffe0) !== 0xffe0) return undefined;
  const version = ((bytes[at + 1] ?? 0) >> 3) & 3;
  const third = bytes[at + 2] ?? 0;
  const rate = [44_100, 48_000, 32_000][(third >> 2) & 3];
  const kbps = (version === 3 ? bitRates.mpeg1 : bitRates.mpeg2)[third >> 4];
  if (rate === undefined || kbps === undefined || kbps === 0 || version === 1) return undefined;
  const hertz = version === 3 ? rate : version === 2 ? rate / 2 : rate / 4;
  return Math.floor(((version === 3 ? 144 : 72) * kbps * 1000) / hertz) + ((third >> 1) & 1);
}

const structures: Readonly<Record<string, Structure>> = {
  'video/mp4': boxes,
  'video/quicktime': boxes,
  'audio/mpeg': mp3,
  'audio/wav': riff,
  'image/webp': riff,
  'image/png': png,
  'image/jpeg': jpeg,
  'model/gltf-binary': gltf,
};
