/** A frame of an ID3v2.3 tag. Its text is the last part of its content. */
interface TagFrame {
  bytes: Buffer;
  text: string;
}

/** Parses the tag at the start of an MP3. Throws if there is none. */
export function readTags(file: Buffer): { frames: Map<string, TagFrame>; audio: Buffer } {
  if (file.toString('latin1', 0, 3) !== 'ID3' || file[3] !== 3) throw new Error('There is no ID3v2.3 tag');
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file[at] ?? 0), 0);
  const end = 10 + size;
  const frames = new Map<string, TagFrame>();
  for (let at = 10; at + 10 <= end; ) {
    const name = file.toString('latin1', at, at + 4);
    if (!/^[A-Z0-9]{4}$/.test(name)) break;
    const length = file.readUInt32BE(at + 4);
    const bytes = file.subarray(at + 10, at + 10 + length);
    frames.set(name, { bytes, text: textOf(bytes) });
    at += 10 + length;
  }
  return { frames, audio: file.subarray(end) };
}

/** Decodes UTF-16 after the last byte order mark, or Latin-1. */
function textOf(bytes: Buffer): string {
  const mark = bytes[0] === 1 ? bytes.lastIndexOf(Buffer.from([0xff, 0xfe])) : -1;
  return mark >= 0 ? bytes.toString('utf16le', mark + 2) : bytes.toString('latin1', 1);
}
