import type { IncomingHttpHeaders } from 'node:http';
import { isText, mediaType } from '../headers.ts';
import type { AudioFormat } from './speech-request.ts';

/** Media type by format. */
export const contentTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/ogg',
  flac: 'audio/flac',
};

/** So many bytes tell what a file is. */
export const headLength = 12;

const signatures: readonly [text: string, type: string][] = [
  ['RIFF', contentTypes.wav],
  ['ID3', contentTypes.mp3],
  ['OggS', contentTypes.opus],
  ['fLaC', contentTypes.flac],
];
const packed = /^application\/(?:x-)?(?:gzip|zip|bzip2|compress|br|zstd)/;

/**
 * The media type of audio that was asked for in a format, by its first bytes; undefined when they are no audio. Raw
 * PCM can begin with anything, so what has no signature is believed unless its type or its bytes say something else.
 */
export function audioType(
  format: AudioFormat,
  head: Buffer,
  headers: IncomingHttpHeaders = {},
): string | undefined {
  if (!['', 'identity'].includes(headers['content-encoding'] ?? '')) return undefined;
  const [, type] = signatures.find(([text]) => head.toString('latin1', 0, text.length) === text) ?? [];
  if (type !== undefined) return type;
  const other = isText(headers) || packed.test(mediaType(headers)) || isPacked(head) || isWritten(head);
  return other ? undefined : contentTypes[format];
}

/** Gzip or zip. */
function isPacked(head: Buffer): boolean {
  return (head[0] === 0x1f && head[1] === 0x8b) || head.toString('latin1', 0, 2) === 'PK';
}

/** Nothing but characters: the beginning of a page, of JSON or of a sentence. */
function isWritten(head: Buffer): boolean {
  return /^[\t\r\n -~]*$/.test(head.toString('latin1'));
}
