import { imageSize } from 'image-size';
import { BufferSource, Input, type InputFormat, MP3, MP4, QTFF, WAVE } from 'mediabunny';
import { isTrap } from './jobs.ts';
import type { AudioFacts, FactsOf, ImageFacts, MediaKind, VideoFacts } from './media-facts.ts';

/** Maps brands of the HEIF container to formats. */
const formatsByBrand: Readonly<Record<string, string>> = {
  heix: 'heic',
  hevc: 'heic',
  hevx: 'heic',
  mif1: 'heif',
  msf1: 'heif',
};

/** Reads the properties of a file. Returns undefined if the bytes are not media of that kind. */
export async function readFacts({
  kind,
  bytes,
}: {
  kind: MediaKind;
  bytes: Uint8Array;
}): Promise<FactsOf<MediaKind> | undefined> {
  try {
    if (kind === 'image') return readImage(bytes);
    return kind === 'video' ? await readVideo(bytes) : await readAudio(bytes);
  } catch (error) {
    // The libraries throw if they cannot read the file. A trap is a different error.
    if (isTrap(error)) throw error;
    return undefined;
  }
}

function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const { type, images = [], ...first } = imageSize(bytes);
  // A tiled image also lists its tiles. The largest entry is the image itself.
  const { width, height } = [first, ...images].reduce((largest, image) =>
    image.width * image.height > largest.width * largest.height ? image : largest,
  );
  if (!type || !width || !height) return undefined;
  return { kind: 'image', format: formatsByBrand[type] ?? type, size: bytes.length, width, height };
}

async function readVideo(bytes: Uint8Array): Promise<VideoFacts | undefined> {
  using input = open(bytes, [MP4, QTFF]);
  const track = await input.getPrimaryVideoTrack();
  if (!track) return undefined;
  const seconds = await track.computeDuration();
  const { averagePacketRate } = await track.computePacketStats();
  return {
    kind: 'video',
    format: (await input.getFormat()) === QTFF ? 'mov' : 'mp4',
    size: bytes.length,
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    seconds,
    frameRate: averagePacketRate,
    audio: (await input.getPrimaryAudioTrack()) !== null,
  };
}

async function readAudio(bytes: Uint8Array): Promise<AudioFacts | undefined> {
  using input = open(bytes, [WAVE, MP3]);
  const track = await input.getPrimaryAudioTrack();
  if (!track) return undefined;
  return {
    kind: 'audio',
    format: (await input.getFormat()) === WAVE ? 'wav' : 'mp3',
    size: bytes.length,
    seconds: await track.computeDuration(),
  };
}

function open(bytes: Uint8Array, formats: InputFormat[]): Input {
  return new Input({ formats, source: new BufferSource(bytes) });
}
