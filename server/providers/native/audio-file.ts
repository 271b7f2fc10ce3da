import type { IncomingHttpHeaders } from 'node:http';
import { isText, mediaType } from '../headers.ts';
import type { AudioFormat } from './speech-request.ts';

export const contentTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/ogg',
  flac: 'audio/flac',
};

/** Number of bytes that identify a file type. */
export const headLength = 12;

const signatures: readonly [text: string, type: string][] = [
  ['RIFF', contentTypes.wav],
  ['ID3', contentTypes.mp3],
  ['OggS', contentTypes.opus],
  ['fLaC', contentTypes.flac],
];
const compressedTypes = /^application\/(?:x-)?(?:gzip|zip|bzip2|compress|br|zstd)/;

/**
 * Media type of audio by its first bytes. Undefined when it is not audio. Raw PCM has no signature, so unknown bytes have
 * the requested format unless the media type or the bytes contradict it.
 */
export function audioType(
  format: AudioFormat,
  head: Buffer,
  headers: IncomingHttpHeaders = {},
): string | undefined {
  if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) return undefined;
  const [, type] = signatures.find(([text]) => head.toString('latin1', 0, text.length) === text) ?? [];
  if (type !== undefined) return type;
  const other =
    isText(headers) || compressedTypes.test(mediaType(headers)) || isCompressed(head) || isPlainText(head);
  return other ? undefined : contentTypes[format];
}

function isCompressed(head: Buffer): boolean {
  return (head[0] === 0x1f && head[1] === 0x8b) || head.toString('latin1', 0, 2) === 'PK';
}

/** Whether the bytes are printable ASCII, such as a web page or JSON. */
function isPlainText(head: Buffer): boolean {
  return /^[\t\r\n -~]*$/.test(head.toString('latin1'));
}
