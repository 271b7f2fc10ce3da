const riff = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE';
const mp3 = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 3) === 'ID3' ||
  (bytes.length > 1 && (bytes.readUInt16BE(0) & 0xffe0) === 0xffe0);
const startsWith = (text: string) => (bytes: Buffer) => bytes.toString('latin1', 0, text.length) === text;

/** Whether bytes are what a media type says, by how such a file begins. */
const signatures: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'audio/mpeg': mp3,
  'audio/wav': riff,
  // Raw samples have no beginning of their own; 16-bit ones come in pairs of bytes.
  'audio/pcm': (bytes) => bytes.length > 0 && bytes.length % 2 === 0,
  'audio/ogg': startsWith('OggS'),
  'audio/flac': startsWith('fLaC'),
  'video/mp4': (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp',
  'video/quicktime': (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp',
  'image/jpeg': startsWith('\xff\xd8\xff'),
  'image/png': startsWith('\x89PNG\r\n\x1a\n'),
  'image/webp': (bytes) => startsWith('RIFF')(bytes) && bytes.toString('latin1', 8, 12) === 'WEBP',
  'text/csv': (bytes) => /^[a-z_]+(,[a-z_]+)+\r\n([^]*\r\n)?$/.test(bytes.toString('utf8')),
  'model/gltf-binary': startsWith('glTF'),
  'text/html': startsWith('<!doctype html>'),
  'text/css': startsWith(':root'),
  'text/javascript': (bytes) => startsWith("'use strict'")(bytes) || startsWith('(function')(bytes),
  // What has no other type can begin with anything.
  'application/octet-stream': (bytes) => bytes.length > 0,
};

/** @throws Error for a media type that no operation answers with. */
export function looksLike(mediaType: string, bytes: Buffer): boolean {
  const matches = signatures[mediaType];
  if (matches === undefined) throw new Error(`no signature of ${mediaType} is known`);
  return matches(bytes);
}
