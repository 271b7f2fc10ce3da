const riff = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE';
const mp3 = (bytes: Buffer) =>
  bytes.toString('latin1', 0, 3) === 'ID3' ||
  (bytes.length > 1 && (bytes.readUInt16BE(0) & 0xffe0) === 0xffe0);
const startsWith = (text: string) => (bytes: Buffer) => bytes.toString('latin1', 0, text.length) === text;

/** Tests the first bytes of a file, by media type. */
const signatures: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'audio/mpeg': mp3,
  'audio/wav': riff,
  // Raw samples have no signature. 16-bit samples have an even number of bytes.
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
  'text/html': (bytes) => /^<!doctype html>/i.test(bytes.toString('latin1', 0, 20)),
  'text/css': startsWith(':root'),
  'text/markdown': startsWith('# '),
  'text/plain': startsWith('# '),
  'image/svg+xml': startsWith('<svg'),
  'text/javascript': (bytes) =>
    /^('use strict'|\(function|(import|const|var|let)\b)/.test(bytes.toString('latin1', 0, 20)),
  // A file of unknown type can start with any byte.
  'application/octet-stream': (bytes) => bytes.length > 0,
};

/** Whether a file starts like its media type. @throws Error for a media type of no operation */
export function hasSignature(mediaType: string, bytes: Buffer): boolean {
  const matches = signatures[mediaType];
  if (matches === undefined) throw new Error(`the signature of ${mediaType} is unknown`);
  return matches(bytes);
}

/** Returns the media type of a file whose first bytes identify it. */
export const mediaTypeOfBytes = (bytes: Buffer): string | undefined =>
  Object.keys(signatures).find(
    (type) =>
      !['audio/pcm', 'application/octet-stream', 'text/csv'].includes(type) && hasSignature(type, bytes),
  );
